// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_definition.hpp"
#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "cli/exit_status.hpp"

namespace smd::tool {

/// One command: `main.cpp` makes one and hands it to `run_command`.
class Command {
 public:
  virtual ~Command() = default;
  /// The same object each time; walked for man pages and completions too, without `setup`.
  [[nodiscard]] virtual const CommandDefinition& definition() const = 0;
  /// Takes what it needs from the command line. Touches no file. @throws UsageError.
  virtual void setup(const CommandLine& line) = 0;
  /// Works. Problems go to `messages`, whose status is combined with the one returned.
  virtual ExitStatus run(Diagnostics& messages) = 0;
};

/// A whole process: parses, answers --help and --version, sets up messages (-q, -v, environment), runs, catches
/// everything (never shows exception text), closes standard output and checks that, returns the exit status.
int run_command(Command& command, int argc, char** argv) noexcept;

}  // namespace smd::tool
