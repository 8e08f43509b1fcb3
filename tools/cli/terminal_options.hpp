// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/terminal.hpp"

namespace smd::tool {

/// How results and messages look on a terminal.
struct TerminalOptions {
  ColorChoice color = ColorChoice::automatic;
  bool ascii = false;  ///< --ascii, or the locale is not UTF-8.

  static TerminalOptions from(const CommandLine& line);
};

}  // namespace smd::tool
