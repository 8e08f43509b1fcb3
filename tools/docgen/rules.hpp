// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::docgen {

/// The words that shells complete for a rule.
struct RuleWords {
  std::vector<std::string> names;  ///< The rule's name, then its alias.
  std::vector<std::string> parameters;
};

[[nodiscard]] std::vector<RuleWords> rule_words();

/// Returns the built-in rules as subsections of a manual page.
[[nodiscard]] std::string rule_sections();
/// As above, for a Markdown document, preceded by a table of all rules.
[[nodiscard]] std::string rule_chapters();

/// Returns the choices made where the descriptions of a rule are silent or contradictory; empty if there are none.
[[nodiscard]] std::string_view rule_choice(std::string_view rule) noexcept;

}  // namespace smd::docgen
