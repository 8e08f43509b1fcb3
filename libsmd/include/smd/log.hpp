// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

namespace smd {

/// How important a message is, by the names that SMDEBUG_LOG_LEVEL takes.
enum class LogLevel : std::uint8_t { debug, info, warning, error, critical };

/// `debug`, `info`, `warning`, `error`, `critical`.
[[nodiscard]] SMD_EXPORT std::string_view to_string(LogLevel level) noexcept;

/// Takes one message, a line without a line break. Called by one thread at a time; must not log itself.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

/// Decides where the library's messages go, those of every level. The library says little: that a condition of a rule
/// is met (info), and why a rule skips a step (debug).
///
/// Without a sink, or after `set_log_sink({})`, a message is one line on standard error, `smd: info: MESSAGE`, if its
/// level is at least that of SMDEBUG_LOG_LEVEL (default info; `off`: nothing). Thread-safe.
SMD_EXPORT void set_log_sink(LogSink sink);

/// Logs a message (a line without a line break) as the library does: it goes to the sink, or to standard error. For
/// rules of your own. Thread-safe.
SMD_EXPORT void log(LogLevel level, std::string_view message);

}  // namespace smd
