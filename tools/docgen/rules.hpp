// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace smd::docgen {

/// What shells offer of a rule.
struct RuleWords {
  std::vector<std::string> names;  ///< The rule's name, then its alias.
  std::vector<std::string> parameters;
};

[[nodiscard]] std::vector<RuleWords> rule_words();

}  // namespace smd::docgen
