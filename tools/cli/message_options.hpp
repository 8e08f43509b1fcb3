// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "cli/command_line.hpp"

namespace smd::tool {

/// -q -v --progress --no-progress, and -h --version, which `run_command` answers itself.
struct MessageOptions {
  bool quiet = false;
  unsigned verbosity = 0;
  std::optional<bool> progress;  ///< Nullopt: if standard error is a terminal.

  static std::span<const OptionSpec> table() noexcept;
  static MessageOptions from(const CommandLine& line);
};

}  // namespace smd::tool
