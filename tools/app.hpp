// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_definition.hpp"
#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "cli/exit_status.hpp"

namespace smd::tool {

/// One command: `main.cpp` makes one and passes it to `run_command`.
class Command {
 public:
  virtual ~Command() = default;
  /// Returns the same object each time. Man pages and completions read it too, without `setup`.
  [[nodiscard]] virtual const CommandDefinition& definition() const = 0;
  /// Reads the command line. Touches no file. @throws UsageError.
  virtual void setup(const CommandLine& line) = 0;
  /// Does the work. Reports problems to `messages`, whose status is combined with the one returned.
  virtual ExitStatus run(Diagnostics& messages) = 0;
};

/// Runs a whole process: parses, answers --help and --version, sets up messages (-q, -v, environment), runs the
/// command, catches everything (never shows the text of a foreign exception), closes standard output, checks that all
/// was written, and returns the exit status.
int run_command(Command& command, int argc, char** argv) noexcept;

}  // namespace smd::tool
