// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace smd::detail::trial {

/// Ends requests, besides the caller's own `RemoteOptions::stop`, when the wait of the current look ends. Of several
/// concurrent waits, the one that looked last counts. Thread-safe.
class LookLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void set(std::stop_token stop, std::optional<Time> end) {
    const std::lock_guard lock(mutex_);
    stop_ = std::move(stop);
    end_ = end;
  }
  [[nodiscard]] bool over() {
    const std::lock_guard lock(mutex_);
    return stop_.stop_requested() || (end_ && std::chrono::steady_clock::now() >= *end_);
  }

 private:
  std::mutex mutex_;
  std::stop_token stop_;  // guarded by mutex_, like end_
  std::optional<Time> end_;
};

/// Returns a stop that counts only after a while, for a look on disk: one that is shorter is not worth stopping, and
/// what it finds as time runs out still counts. Empty if `stop` is.
[[nodiscard]] inline std::function<bool()> unless_short(const std::function<bool()>& stop) {
  constexpr std::chrono::milliseconds short_look{100};
  using Clock = std::chrono::steady_clock;
  return !stop ? stop : [stop, end = Clock::now() + short_look] { return stop() && Clock::now() >= end; };
}

}  // namespace smd::detail::trial
