// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace smd::detail {

/// Where time comes from, so that tests can wind it by hand. Durations and deadlines go by `now`, which a change of
/// the system's clock does not touch; `wall_seconds` is only for what is written down. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const noexcept = 0;
  /// Seconds since 1970.
  [[nodiscard]] virtual double wall_seconds() const noexcept = 0;
};

/// The system's clocks; lives for ever.
[[nodiscard]] const Clock& system_clock() noexcept;

}  // namespace smd::detail
