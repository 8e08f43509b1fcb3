// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace smd::tool {

/// SIGINT and SIGTERM remove what `remove_on_signal` was told, then kill the process as if unhandled (130, 143).
/// SIGPIPE too, whoever had it ignored: a reader that goes away ends us silently (141).
void install_signal_handlers() noexcept;

/// Registers a temporary file to be removed should a signal end the process; returns false if there is no room (8 at a
/// time). Call `forget_on_signal` once it is gone or renamed.
bool remove_on_signal(const std::string& path) noexcept;
void forget_on_signal(const std::string& path) noexcept;

/// Removes what `remove_on_signal` was told, and dies of the signal.
[[noreturn]] void end_process_by(int number) noexcept;

}  // namespace smd::tool
