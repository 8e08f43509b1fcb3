// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include "layout/debugger/trial_paths.hpp"

namespace smd::detail::layout {

Listing::Listing(const Listing* before) {
  if (before != nullptr) {
    *this = Listing(*before);
    fresh.clear();
    notes = ProblemList(limits::problems_per_trial);
  }
}

std::string Listing::path(const StepFile& file) const {
  std::string path(folders[file.folder]);
  path.push_back('/');
  if (file.leaf == no_id) {
    path.append(index_leaf(file.step, worker_parts[file.worker]));
  } else {
    path.append(leaves[file.leaf]);
  }
  return path;
}

bool Listing::before_in_step(const StepFile& a, const StepFile& b) const {
  if (a.worker != b.worker) {
    return worker_rank[a.worker] < worker_rank[b.worker];
  }
  return a != b && path(a) < path(b);
}

}  // namespace smd::detail::layout
