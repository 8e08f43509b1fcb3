// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_definition.hpp"

namespace smd::docgen {

using Slots = std::map<std::string, std::string, std::less<>>;

/// A text with each `@NAME@` (capitals and `_`) replaced; a slot that ends in a newline takes its line's own.
/// @throws std::runtime_error for a name that is not among the slots.
[[nodiscard]] std::string filled(std::string_view text, const Slots& slots);

/// The word by which the completions' templates know a kind of value; empty: nothing is offered.
[[nodiscard]] std::string_view kind_word(const tool::OptionSpec& spec) noexcept;
[[nodiscard]] std::string_view kind_word(tool::ValueKind kind) noexcept;

/// What is offered for the value of an option: its choices, or the command's formats or columns.
[[nodiscard]] std::vector<std::string_view> offered(const tool::OptionSpec& spec,
                                                    const tool::CommandDefinition& definition);

[[nodiscard]] std::string joined(std::span<const std::string_view> words, std::string_view separator);
[[nodiscard]] std::string joined(std::span<const std::string> words, std::string_view separator);

/// In single quotes, as all three shells read it; `quote` stands for a single quote.
[[nodiscard]] std::string in_quotes(std::string_view text, std::string_view quote);

}  // namespace smd::docgen
