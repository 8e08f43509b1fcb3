// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/log.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace smd::test {

/// Catches what the library logs from a level on, as `LEVEL: TEXT`, while it lives: nothing goes to standard error.
struct CaughtLog {
  explicit CaughtLog(LogLevel least = LogLevel::debug) {
    set_log_sink([this, least](LogLevel level, std::string_view text) {
      if (level >= least) {
        lines.push_back(std::string(to_string(level)) + ": " + std::string(text));
      }
    });
  }
  ~CaughtLog() { set_log_sink({}); }
  CaughtLog(const CaughtLog&) = delete;
  CaughtLog& operator=(const CaughtLog&) = delete;

  std::vector<std::string> lines;
};

}  // namespace smd::test
