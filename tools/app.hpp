// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_definition.hpp"
#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "cli/exit_status.hpp"

#include <functional>
#include <string_view>

namespace smd::tool {

/// Does the work of a command. Reports problems to `messages`, whose status is combined with the one returned.
using Work = std::function<ExitStatus(Diagnostics& messages)>;

/// One command.
struct Command {
  const CommandDefinition& (*definition)();  ///< Man pages and completions read it, too.
  /// Reads the command line, and touches no file. @throws UsageError.
  Work (*setup)(const CommandLine& line);
};

/// Reads options, and returns what calls `run` with them.
template <class Options>
Work work_of(ExitStatus (*run)(Options&, Diagnostics&), const CommandLine& line) {
  return [run, options = Options::from(line)](Diagnostics& messages) mutable { return run(options, messages); };
}
/// The `Command::setup` of a command whose work is `Run`, a function of its options.
template <auto Run>
Work setup(const CommandLine& line) {
  return work_of(Run, line);
}

/// Calls `work`, and reports what it throws (never the text of a foreign exception). `command`: its name, for a hint.
void run_guarded(std::string_view command, Diagnostics& messages, const std::function<ExitStatus()>& work);

/// Runs a whole process: parses, answers --help and --version, sets up messages (-q, -v, environment), runs the
/// command, catches everything (never shows the text of a foreign exception), closes standard output, checks that all
/// was written, and returns the exit status.
int run_command(const Command& command, int argc, char** argv) noexcept;

}  // namespace smd::tool
