// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

namespace smd {

/// How long to wait, and what ends the wait early, including its requests to a remote store. Times are those of the
/// steady clock.
struct WaitOptions {
  /// Give up at this moment; nullopt: never. If it has passed, look once.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Give up when no further step has become complete for this long, counted from the start and from each such step.
  std::optional<std::chrono::nanoseconds> idle = {};
  /// Look at least this often, even if changes are notified (by inotify, on local disks). Nullopt: 2 s for local
  /// trials, 5 s on S3. At least 1 ms.
  std::optional<std::chrono::milliseconds> interval = {};
  /// Ends the wait from another thread.
  std::stop_token stop = {};
};

/// How a wait ended.
enum class WaitOutcome : std::uint8_t {
  reached,    ///< The condition of the wait is met.
  ended,      ///< The job is over, so the condition will never be met.
  timed_out,  ///< The deadline passed.
  idle,       ///< No further step became complete for `WaitOptions::idle`.
  stopped,    ///< A stop was requested.
};

}  // namespace smd
