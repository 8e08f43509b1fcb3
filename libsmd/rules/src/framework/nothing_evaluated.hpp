// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::rules {

class RuleRun;

/// Why a rule evaluated nothing at the steps at which it was invoked, for a person: `reason` as the rule itself has it,
/// else what its selections lack; with the names that may have been meant.
[[nodiscard]] std::string nothing_evaluated(const RuleRun& run, const std::string& reason);

/// `a, b, c and 2 more`: the first three names, escaped.
[[nodiscard]] std::string first_names(const std::vector<std::string_view>& names);

/// `1 tensor`, `3 tensors`.
[[nodiscard]] std::string counted(std::size_t number, std::string_view what);

/// The longest piece of plain text of each alternative of a pattern: what the names that it is meant for hold.
[[nodiscard]] std::vector<std::string> plain_pieces(std::string_view pattern);

}  // namespace smd::detail::rules
