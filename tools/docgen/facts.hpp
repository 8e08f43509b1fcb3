// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/exit_status.hpp"

namespace smd::docgen {

/// A limit of <smd/limits.hpp>, as readers want it.
struct Limit {
  std::string_view name;  ///< As in the header.
  std::string value;      ///< `2 GiB - 1 byte`
  std::string_view of;    ///< What is limited.
};

[[nodiscard]] std::span<const Limit> limits();

/// What an exit status means whatever the command.
struct StatusFact {
  tool::ExitStatus status;
  std::string_view meaning;
};

[[nodiscard]] std::span<const StatusFact> statuses() noexcept;

/// What a manual page says of a group of options before it lists them; empty: nothing.
[[nodiscard]] std::string_view group_note(std::string_view group, std::string_view command) noexcept;

/// What holds of every command and belongs under its exit statuses.
[[nodiscard]] std::string status_note();

/// The statuses, first that which is used if several apply: `2, 3, …`.
[[nodiscard]] std::string status_order();

}  // namespace smd::docgen
