// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_definition.hpp"

namespace smd::docgen {

/// The date of all pages: of the last change that readers would notice.
inline constexpr std::string_view manual_date = "November 21, 2026";

/// The manual page of a command, section 1, in mdoc.
[[nodiscard]] std::string command_page(const tool::CommandDefinition& definition);

/// A page written by hand, with its slots filled: `@DATE@`, `@VERSION@`, `@LIMITS@`, `@RULES@`.
/// @throws std::runtime_error for a slot that is not known.
[[nodiscard]] std::string filled_page(std::string_view page);

/// A Markdown document likewise: `@LIMITS@`, `@STATUSES@` and `@NOTES@` (what statuses mean to each command) are
/// tables.
[[nodiscard]] std::string filled_document(std::string_view text,
                                          const std::vector<const tool::CommandDefinition*>& commands);

}  // namespace smd::docgen
