// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <mutex>

namespace smd::test {

/// A clock that is advanced manually. Thread-safe.
class FakeClock final : public detail::Clock {
 public:
  [[nodiscard]] std::chrono::steady_clock::time_point now() const noexcept override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  [[nodiscard]] double wall_seconds() const noexcept override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }
  /// Advances the time.
  void advance(std::chrono::steady_clock::duration by) noexcept {
    const std::lock_guard lock(mutex_);
    now_ += by;
    wall_ += std::chrono::duration<double>(by).count();
  }
  /// Sets the system's clock.
  void set_wall(double seconds) noexcept {
    const std::lock_guard lock(mutex_);
    wall_ = seconds;
  }

 private:
  mutable std::mutex mutex_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1000)};
  double wall_ = 1.7e9;
};

}  // namespace smd::test
