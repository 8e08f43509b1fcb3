// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/listing.hpp"

#include "layout/debugger/trial_paths.hpp"

#include <algorithm>

namespace smd::detail::layout {

DebuggerListing::DebuggerListing(const DebuggerListing* before) {
  if (before == nullptr) {
    named.emplace();
    return;
  }
  *this = DebuggerListing(*before);
  named->fresh.clear();
  notes = ProblemList(limits::problems_per_trial);
}

std::string DebuggerListing::path(const StepPart& file) const {
  std::string path(folders[folder_of(file)]);
  path.push_back('/');
  if (leaf_of(file) == no_id) {
    path.append(index_leaf(file.step, worker_parts[file.worker]));
  } else {
    path.append(leaves[leaf_of(file)]);
  }
  return path;
}

std::uint32_t DebuggerListing::worker_of(std::string_view worker_part) {
  const std::uint32_t id = worker_parts.add(worker_part);
  if (id == workers.size()) {
    add_worker(worker_name(worker_part));
  }
  return id;
}

void DebuggerListing::take_fresh() {
  rank_workers();
  std::vector<StepPart>& fresh = named->fresh;
  const auto order = [&](const StepPart& a, const StepPart& b) { return before(a, b); };
  if (!std::is_sorted(fresh.begin(), fresh.end(), order)) {
    std::sort(fresh.begin(), fresh.end(), order);
  }
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  named->files.merge(fresh, order);
  newest_step.resize(workers.size(), INT64_MIN);
  for (const StepPart& file : fresh) {
    std::int64_t& newest = newest_step[file.worker];
    newest = std::max(newest, file.step);
  }
}

}  // namespace smd::detail::layout
