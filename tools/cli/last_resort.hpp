// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace smd::tool {

/// Where memory is so short that not even an exception can be made, the language ends the process by a signal. From
/// here on that is a message and status 3, and temporary files are removed. `run_command` calls it; a program that
/// links it has it from its start.
void install_last_resort() noexcept;

}  // namespace smd::tool
