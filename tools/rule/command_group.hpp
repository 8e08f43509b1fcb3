// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/diagnostics.hpp"
#include "record.hpp"

namespace smd::tool::rule {

/// Starts a program, searched in PATH, that leads a process group of its own and has default signal handling, whatever
/// this process has set. `variables` (`NAME=TEXT`) replace those of its environment. `files`: descriptors of this
/// process, and what they are there. Its standard output goes to standard error. Returns an error number.
[[nodiscard]] int start_group(const std::vector<std::string>& arguments, const std::vector<std::string>& variables,
                              const std::vector<std::pair<int, int>>& files, pid_t& child);

/// How a command came to its end.
struct CommandEnd {
  enum class Reason : std::uint8_t {
    itself,
    too_long,  ///< The time was up, and it was ended.
    stopped,   ///< `stop` asked for it.
  };
  Reason reason = Reason::itself;
  int status = 0;       ///< As waitpid gives it.
  bool killed = false;  ///< SIGTERM was not enough.
};

/// Waits for a child that leads a process group of its own, and reaps it. When `timeout` is over, or `stop` (called
/// every 50 ms) returns true, the group gets SIGTERM, and a second later SIGKILL for what is left of it. What a command
/// that ended in time leaves behind continues to run.
[[nodiscard]] CommandEnd wait_for_command(pid_t child, std::chrono::nanoseconds timeout,
                                          const std::function<bool()>& stop);

/// What --on-trigger asks for.
struct TriggerCommand {
  const std::string& command;
  std::chrono::nanoseconds timeout;
  const std::function<bool()>& stop;  ///< True: the command is given up.
};

/// Runs `sh -c command` for a finding, in a process group of its own: the record as JSON on its standard input, the
/// finding in its environment. What it prints goes to standard error, so that results stay whole. Waits for it, and
/// ends it as `wait_for_command` does. A failure is a warning.
void run_on_trigger(const TriggerCommand& trigger, const ReportRecord& finding, Diagnostics& messages);

}  // namespace smd::tool::rule
