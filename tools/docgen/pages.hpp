// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_definition.hpp"

namespace smd::docgen {

/// The date of all pages: that of the last visible change.
inline constexpr std::string_view manual_date = "November 21, 2026";

/// Returns the manual page of a command, section 1, in mdoc.
[[nodiscard]] std::string command_page(const tool::CommandDefinition& definition);

/// Returns a hand-written page with its slots filled: `@DATE@`, `@VERSION@`, `@LIMITS@`, `@RULES@`.
/// @throws std::runtime_error for an unknown slot.
[[nodiscard]] std::string filled_page(std::string_view page);

/// As above, for a Markdown document: `@LIMITS@`, `@STATUSES@` and `@NOTES@` (the meaning of statuses for each
/// command) are tables.
[[nodiscard]] std::string filled_document(std::string_view text,
                                          const std::vector<const tool::CommandDefinition*>& commands);

}  // namespace smd::docgen
