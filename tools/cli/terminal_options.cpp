// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_options.hpp"

namespace smd::tool {

TerminalOptions TerminalOptions::from(const CommandLine& line) {
  const std::string color = line.value("color").value_or("auto");
  return {.color = color == "always"  ? ColorChoice::always
                   : color == "never" ? ColorChoice::never
                                      : ColorChoice::automatic,
          .ascii = line.has("ascii") || !locale_is_utf8()};
}

}  // namespace smd::tool
