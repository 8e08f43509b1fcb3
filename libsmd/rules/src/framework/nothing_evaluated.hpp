// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/words.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::rules {

class RuleRun;

/// Returns, for people, why a rule evaluated nothing at the steps at which it was invoked: `reason`, the rule's own,
/// else what its selections lack, with similar names.
[[nodiscard]] std::string nothing_evaluated(const RuleRun& run, const std::string& reason);

using text::counted;
using text::first_names;

/// Returns the longest piece of plain text in each alternative of a pattern, which matching names probably contain.
[[nodiscard]] std::vector<std::string> plain_pieces(std::string_view pattern);

}  // namespace smd::detail::rules
