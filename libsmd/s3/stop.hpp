// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// See RemoteOptions::stop. Empty: never stops.
using Stop = std::function<bool()>;

/// Interval at which a wait calls a `Stop`.
inline constexpr std::chrono::milliseconds stop_interval{50};

/// `stop` may be null.
[[nodiscard]] inline bool is_stopped(const Stop* stop) { return stop != nullptr && *stop && (*stop)(); }

/// Returns the problem of a request that was stopped.
[[nodiscard]] inline Problem stopped_problem(std::string file) {
  return {ProblemKind::stopped, std::move(file), {}, "the request was stopped before the server had answered"};
}

/// Sleeps until `end`, or until a stop.
inline void sleep_until(std::chrono::steady_clock::time_point end, const Stop* stop) {
  using Clock = std::chrono::steady_clock;
  for (auto now = Clock::now(); now < end && !is_stopped(stop); now = Clock::now()) {
    std::this_thread::sleep_until(std::min(end, now + stop_interval));
  }
}

}  // namespace smd::detail::storage::s3
