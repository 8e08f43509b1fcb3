// SPDX-License-Identifier: Apache-2.0
#include <smd/log.hpp>

#include "text/environment.hpp"
#include "text/escape.hpp"
#include "text/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace smd {

namespace {

constexpr std::array<std::string_view, 5> level_names = {"debug", "info", "warning", "error", "critical"};

/// Longest part of a message that is written.
constexpr std::size_t longest_line = 16 * 1024;

/// Returns the lowest level that is written to standard error; nullopt for `off`.
std::optional<LogLevel> level_of_environment() {
  const std::string text = detail::folded(text::environment("SMDEBUG_LOG_LEVEL").value_or(""));
  if (text == "off") {
    return std::nullopt;
  }
  const auto* const name = std::find(level_names.begin(), level_names.end(), text);
  return name == level_names.end() ? LogLevel::info : static_cast<LogLevel>(name - level_names.begin());
}

struct Log {
  std::mutex mutex;
  LogSink sink;  // guarded by mutex
};

Log& the_log() {
  static Log& log = *new Log;  // never destroyed: destructors of static objects, such as hooks, may log
  return log;
}

}  // namespace

std::string_view to_string(LogLevel level) noexcept { return level_names.at(static_cast<std::size_t>(level)); }

void set_log_sink(LogSink sink) {
  const std::lock_guard lock(the_log().mutex);
  the_log().sink = std::move(sink);
}

void log(LogLevel level, std::string_view message) {
  const std::lock_guard lock(the_log().mutex);
  if (the_log().sink) {
    the_log().sink(level, message);
    return;
  }
  static const std::optional<LogLevel> least = level_of_environment();
  if (least && level >= *least) {
    const std::string line =
        "smd: " + std::string(to_string(level)) + ": " + detail::printable(message, longest_line) + "\n";
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
  }
}

}  // namespace smd
