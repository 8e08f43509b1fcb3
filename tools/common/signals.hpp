// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <array>
#include <string>

namespace smd::tool {

/// The signals by which a person, a terminal that closes or a scheduler ends a command.
inline constexpr std::array<int, 3> ending_signals = {SIGHUP, SIGINT, SIGTERM};

/// They remove what `remove_on_signal` was told, then kill the process as if unhandled (129, 130, 143).
/// SIGPIPE too, whoever had it ignored: a reader that goes away ends us silently (141).
void install_signal_handlers() noexcept;

/// Registers a temporary file to be removed should a signal end the process; returns false if there is no room (8 at a
/// time). Call `forget_on_signal` once it is gone or renamed.
bool remove_on_signal(const std::string& path) noexcept;
void forget_on_signal(const std::string& path) noexcept;

/// Removes what `remove_on_signal` was told, and dies of the signal.
[[noreturn]] void end_process_by(int number) noexcept;

}  // namespace smd::tool
