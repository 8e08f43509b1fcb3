// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace smd::detail::trial {

/// Limits for waiting, from environment variables; docs/format.md.
struct WaitLimits {
  std::chrono::nanoseconds end_delay = std::chrono::seconds(1);
  std::size_t missing_event_file_retries = 100;
  /// How many steps may lack a worker before the oldest of them count as complete.
  std::size_t incomplete_steps = 1000;
  /// How long a half-written index file may stay unchanged before it is damaged.
  std::chrono::nanoseconds half_written = std::chrono::seconds(10);

  static WaitLimits from_environment();
};

}  // namespace smd::detail::trial
