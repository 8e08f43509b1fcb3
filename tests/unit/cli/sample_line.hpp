// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "operands/reading_options.hpp"
#include "rows/output_options.hpp"
#include "select/selection.hpp"
#include "unit/cli/sample_command.hpp"

#include <string>
#include <vector>

namespace smd::tool::test {

using Strings = std::vector<std::string>;

inline CommandLine parse(const Strings& arguments) { return CommandLine::parse(sample_definition(), arguments); }

/// What is said of a command line that is wrong; empty if nothing is.
inline std::string usage_error(const Strings& arguments) {
  try {
    const CommandLine line = parse(arguments);
    (void)OutputOptions::from(line);
    (void)SelectionOptions::from(line);
    (void)ReadingOptions::from(line);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

}  // namespace smd::tool::test
