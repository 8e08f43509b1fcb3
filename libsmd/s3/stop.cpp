// SPDX-License-Identifier: Apache-2.0
#include "s3/stop.hpp"

#include <algorithm>
#include <thread>

namespace smd::detail::storage::s3 {

void sleep_until(std::chrono::steady_clock::time_point end, const Stop* stop) {
  using Clock = std::chrono::steady_clock;
  for (auto now = Clock::now(); now < end && !is_stopped(stop); now = Clock::now()) {
    std::this_thread::sleep_until(std::min(end, now + stop_interval));
  }
}

}  // namespace smd::detail::storage::s3
