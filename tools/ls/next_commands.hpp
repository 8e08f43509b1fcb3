// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>
#include <string>

namespace smd::tool::ls {

/// What the trial in the current folder is, and the three commands that make sense for it, a line each.
[[nodiscard]] std::string next_commands(const Trial& trial);

/// The commands for a folder that holds several trials.
[[nodiscard]] std::string next_commands_for_runs();

}  // namespace smd::tool::ls
