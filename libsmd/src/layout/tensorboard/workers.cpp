// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/workers.hpp"

#include <algorithm>
#include <limits>

namespace smd::detail::layout {

std::uint32_t WorkersOfRun::begin_file(std::string_view writer, double first_time) {
  if (const auto known = worker_of_.find(writer); known != worker_of_.end()) {
    return known->second;
  }
  const auto free =
      std::find_if(last_times_.begin(), last_times_.end(), [&](double last_time) { return !(first_time < last_time); });
  const auto worker = static_cast<std::uint32_t>(free - last_times_.begin());
  if (free == last_times_.end()) {
    last_times_.push_back(-std::numeric_limits<double>::infinity());
  }
  worker_of_.emplace(writer, worker);
  return worker;
}

void WorkersOfRun::end_file(std::uint32_t worker, double last_time) {
  if (last_time > last_times_[worker]) {
    last_times_[worker] = last_time;
  }
}

}  // namespace smd::detail::layout
