// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace smd::detail::trial {

/// What ends requests besides the caller's own `RemoteOptions::stop`: the wait that the current look belongs to. Of
/// several waits at once, the one that looked last. For concurrent use.
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
  std::stop_token stop_;  // guarded, as the end is
  std::optional<Time> end_;
};

}  // namespace smd::detail::trial
