// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "cli/diagnostics.hpp"
#include "record.hpp"

namespace smd::tool::rule {

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
