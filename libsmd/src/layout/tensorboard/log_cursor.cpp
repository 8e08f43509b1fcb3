// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/log_cursor.hpp"

#include <algorithm>

namespace smd::detail::layout {

std::string LogListing::path(const StepPart& file) const {
  const auto& rows = cursor->file_of_rows;
  const auto after = std::upper_bound(rows.begin(), rows.end(), file.id,
                                      [](std::uint64_t row, const auto& entry) { return row < entry.first; });
  return after == rows.begin() ? std::string() : cursor->files[std::prev(after)->second].path;
}

void LogListing::add_workers(std::uint32_t count) {
  while (workers.size() < count) {
    add_worker("worker_" + std::to_string(workers.size()));
  }
  rank_workers();
}

}  // namespace smd::detail::layout
