// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::docgen {

/// What shells offer of a rule.
struct RuleWords {
  std::vector<std::string> names;  ///< The rule's name, then its alias.
  std::vector<std::string> parameters;
};

[[nodiscard]] std::vector<RuleWords> rule_words();

/// The built-in rules as subsections of a manual page.
[[nodiscard]] std::string rule_sections();
/// Likewise of a Markdown document, with a table of all of them in front.
[[nodiscard]] std::string rule_chapters();

/// What was chosen where the descriptions of a rule are silent or at odds; empty: nothing to say.
[[nodiscard]] std::string_view rule_choice(std::string_view rule) noexcept;

}  // namespace smd::docgen
