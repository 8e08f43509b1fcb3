// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

namespace smd {

/// How long to wait, and what ends it early, requests to a remote store included. Durations and deadlines go by a clock
/// that nobody sets.
struct WaitOptions {
  /// Give up at this moment; none: never. One that has passed: look once.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Give up when no further step became complete for so long, counted from the start and from each such step.
  std::optional<std::chrono::nanoseconds> idle = {};
  /// Look this often, whatever tells of changes sooner (inotify does, on local disks). None: 2 s for local trials, 5 s
  /// on S3. At least 1 ms.
  std::optional<std::chrono::milliseconds> interval = {};
  /// Ends the wait from another thread.
  std::stop_token stop = {};
};

/// How a wait ended.
enum class WaitOutcome : std::uint8_t {
  reached,    ///< What was waited for is so.
  ended,      ///< It is not, and the job is over: it will never be.
  timed_out,  ///< The deadline passed.
  idle,       ///< No further step became complete for `WaitOptions::idle`.
  stopped,    ///< The stop token asked for it.
};

}  // namespace smd
