// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace smd::tool {

/// If memory does not even suffice for an exception, the language ends the process by a signal. After this call, such a
/// process prints a message, removes temporary files and exits with status 3. `run_command` calls it; a program that
/// links this file calls it at its start.
void install_last_resort() noexcept;

}  // namespace smd::tool
