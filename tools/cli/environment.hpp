// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cli/diagnostics.hpp"

namespace smd::tool {

/// What the value of a variable must be. A `text` is checked where it is read.
enum class EnvironmentForm : std::uint8_t { text, level, count, seconds };

/// An environment variable that a command or the library reads.
struct EnvironmentVariable {
  std::string_view name;     ///< Several that go together are separated by ", ".
  std::string_view meaning;  ///< Whole sentences.
  /// Who reads it, by words of commands' names separated by blanks (`reduce rule`); empty: every command.
  std::string_view commands{};
  EnvironmentForm form = EnvironmentForm::text;
  std::string_view fallback{};  ///< What is used instead of an invalid value.
};

/// All variables, in the order of the manual pages. Tests compare this table with the sources.
[[nodiscard]] std::span<const EnvironmentVariable> environment_variables() noexcept;

/// Whether a command, given by its full name, reads the variable.
[[nodiscard]] bool reads(std::string_view command, const EnvironmentVariable& variable);

/// Warns of invalid values, which are ignored: the library, which reads some of them, cannot warn.
void check_environment(std::string_view command, Diagnostics& messages);

}  // namespace smd::tool
