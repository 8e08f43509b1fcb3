// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <array>
#include <span>
#include <string_view>

namespace smd::tool {

/// The signals by which a person, a terminal that closes or a scheduler ends a command.
inline constexpr std::array<int, 3> ending_signals = {SIGHUP, SIGINT, SIGTERM};

/// Returns the set of these signals.
[[nodiscard]] sigset_t signal_set(std::span<const int> numbers) noexcept;

/// From this call on, `ending_signals` remove the files registered with `remove_on_signal`, then kill the process as if
/// unhandled (129, 130, 143). So does SIGPIPE, even if it was ignored at the start: if the reader goes away, the
/// process ends silently (141). SIGXFSZ does nothing: a file that becomes too large is an error of writing.
void install_signal_handlers() noexcept;

/// Registers a temporary file to be removed if a signal ends the process; returns false if there is no memory, or the
/// path is too long for the system. Call `forget_on_signal` once the file is gone or renamed.
bool remove_on_signal(std::string_view path) noexcept;
void forget_on_signal(std::string_view path) noexcept;

/// Removes the files registered with `remove_on_signal`, and dies of the signal. No file can be registered from then
/// on: a thread that is about to make one waits for the end.
[[noreturn]] void end_process_by(int number) noexcept;

/// Stack that suffices for every command, in KiB. Little more than what its threads use: the library recurses no deeper
/// than its limits allow.
inline constexpr unsigned least_stack_kib = 256;

/// Gives this thread, and those started later, that much stack. False if the system's hard limit is lower.
[[nodiscard]] bool provide_stack() noexcept;

}  // namespace smd::tool
