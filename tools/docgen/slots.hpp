// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_definition.hpp"

namespace smd::docgen {

using Slots = std::map<std::string, std::string, std::less<>>;

/// Returns a text with each `@NAME@` (capitals and `_`) replaced; a slot whose text ends in a newline replaces its
/// line's newline.
/// @throws std::runtime_error for an unknown slot.
[[nodiscard]] std::string filled(std::string_view text, const Slots& slots);

/// Returns the word for a kind of value in the completions' templates; empty if nothing is offered.
[[nodiscard]] std::string_view kind_word(const tool::OptionSpec& spec) noexcept;
[[nodiscard]] std::string_view kind_word(tool::ArgumentKind kind) noexcept;

/// Returns what is offered for the value of an option: its choices, or the command's formats or columns.
[[nodiscard]] std::vector<std::string_view> offered(const tool::OptionSpec& spec,
                                                    const tool::CommandDefinition& definition);

/// Returns a text in single quotes, as all three shells read it; `quote` represents a single quote.
[[nodiscard]] std::string in_quotes(std::string_view text, std::string_view quote);

}  // namespace smd::docgen
