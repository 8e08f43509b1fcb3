// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/exit_status.hpp"

namespace smd::docgen {

/// A limit of <smd/limits.hpp>, in a form for readers.
struct Limit {
  std::string_view name;  ///< As in the header.
  std::string value;      ///< `2 GiB - 1 byte`
  std::string_view of;    ///< What is limited.
};

[[nodiscard]] std::span<const Limit> limits();

/// The meaning of an exit status for all commands.
struct StatusFact {
  tool::ExitStatus status;
  std::string_view meaning;
};

[[nodiscard]] std::span<const StatusFact> statuses() noexcept;

/// Returns the text that a manual page has before a group of options; empty if there is none.
[[nodiscard]] std::string_view group_note(std::string_view group, std::string_view command) noexcept;

/// Returns the text about every command's exit statuses.
[[nodiscard]] std::string status_note();

/// Returns the statuses in order of precedence: `2, 3, …`.
[[nodiscard]] std::string status_order();

}  // namespace smd::docgen
