// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

namespace smd {

/// Importance of a message, with the names that SMDEBUG_LOG_LEVEL takes.
enum class LogLevel : std::uint8_t { debug, info, warning, error, critical };

/// Returns `debug`, `info`, `warning`, `error` or `critical`.
[[nodiscard]] SMD_EXPORT std::string_view to_string(LogLevel level) noexcept;

/// Receives one message, a line without a line break. Called by one thread at a time. Must not log itself, nor throw.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

/// Sets the receiver of the library's messages of every level. The library logs when the condition of a rule is met
/// (info), why a rule skips a step (debug), and what a hook cannot save (warning; error if its destructor finds out).
///
/// Without a sink, or after `set_log_sink({})`, each message is written to standard error as one line, `smd: info:
/// MESSAGE`, if its level is at least that of SMDEBUG_LOG_LEVEL (default info; `off`: none). Thread-safe.
SMD_EXPORT void set_log_sink(LogSink sink);

/// Logs a message (a line without a line break) as the library does: it goes to the sink, or to standard error. For
/// rules of your own. Thread-safe.
SMD_EXPORT void log(LogLevel level, std::string_view message);

}  // namespace smd
