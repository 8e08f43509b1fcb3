// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::rules {

class RuleRun;

/// Returns, for people, why a rule evaluated nothing at the steps at which it was invoked: `reason`, the rule's own,
/// else what its selections lack, with similar names.
[[nodiscard]] std::string nothing_evaluated(const RuleRun& run, const std::string& reason);

/// Returns the first three names, escaped: `a, b, c and 2 more`.
[[nodiscard]] std::string first_names(const std::vector<std::string_view>& names);

/// Returns `1 tensor`, `3 tensors`.
[[nodiscard]] std::string counted(std::size_t number, std::string_view what);

/// Returns the longest piece of plain text in each alternative of a pattern, which matching names probably contain.
[[nodiscard]] std::vector<std::string> plain_pieces(std::string_view pattern);

}  // namespace smd::detail::rules
