// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace smd::detail {

/// A source of time, which tests can replace by a manual one. Durations and deadlines use `now`, which changes of the
/// system's clock do not affect; `wall_seconds` is only for timestamps that are written. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const noexcept = 0;
  /// Seconds since 1970.
  [[nodiscard]] virtual double wall_seconds() const noexcept = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::steady_clock::time_point now() const noexcept override {
    return std::chrono::steady_clock::now();
  }
  [[nodiscard]] double wall_seconds() const noexcept override {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};

/// Returns the system's clocks. Valid for the lifetime of the program.
[[nodiscard]] inline const Clock& system_clock() noexcept {
  static const SystemClock clock;
  return clock;
}

}  // namespace smd::detail
