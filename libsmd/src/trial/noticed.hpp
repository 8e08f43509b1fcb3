// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/problem_list.hpp"

#include <smd/limits.hpp>
#include <smd/problem.hpp>

#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace smd::detail::trial {

/// Problems found by queries, each once. Thread-safe.
class Noticed {
 public:
  void add(Problem problem) {
    std::string text = to_string(problem);
    const std::lock_guard lock(mutex_);
    if (problems_.full(problem.kind)) {
      if (!texts_.contains(text)) {
        problems_.count(problem.kind);
      }
    } else if (texts_.insert(std::move(text)).second) {
      problems_.add(std::move(problem));
    }
  }
  [[nodiscard]] std::vector<Problem> all() const {
    const std::lock_guard lock(mutex_);
    return problems_.all();
  }

 private:
  mutable std::mutex mutex_;
  ProblemList problems_{limits::problems_per_trial};  // guarded by mutex_, like texts_
  std::unordered_set<std::string> texts_;
};

}  // namespace smd::detail::trial
