// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace smd::tool {

/// An environment variable that a command or the library reads.
struct EnvironmentVariable {
  std::string_view name;     ///< Several that go together are parted by ", ".
  std::string_view meaning;  ///< Whole sentences.
  /// Who reads it, by words of commands' names parted by blanks (`reduce rule`); empty: every command.
  std::string_view commands{};
};

/// All of them, in the order of the manual pages. The tests hold this table against the sources.
[[nodiscard]] std::span<const EnvironmentVariable> environment_variables() noexcept;

}  // namespace smd::tool
