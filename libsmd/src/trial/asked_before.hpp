// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/limits.hpp>
#include "text/match_budget.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace smd::detail::trial {

/// What questions about one snapshot leave for the next ones. A copy begins anew: it is the start of another snapshot.
/// For concurrent use.
class AskedBefore {
 public:
  AskedBefore() = default;
  AskedBefore(const AskedBefore& /*other*/) noexcept {}
  AskedBefore& operator=(const AskedBefore& /*other*/) = delete;
  ~AskedBefore() = default;

  /// The tensors of which something was saved at some step: made once. The reference stays valid.
  template <class Make>
  [[nodiscard]] const std::vector<bool>& saved_ever(const Make& make) const {
    const std::lock_guard lock(mutex_);
    if (!saved_ever_) {
      saved_ever_ = make();
    }
    return *saved_ever_;
  }

  /// The steps that a collection's patterns may take on so many names: what those of the others have left. Asked for
  /// again, a collection that came to its end within them takes as many as before, and they are not counted twice.
  [[nodiscard]] MatchBudget budget_of(const std::string& collection, std::size_t names) const {
    const std::lock_guard lock(mutex_);
    const MatchBudget all(limits::pattern_trial_steps + names * limits::pattern_trial_steps_of_name);
    return counted_.contains(collection) ? all : left_.value_or(all);
  }
  void took(const std::string& collection, const MatchBudget& left) const {
    const std::lock_guard lock(mutex_);
    if (counted_.contains(collection)) {
      return;
    }
    left_ = left_ && left_->left() < left.left() ? left_ : left;
    if (!left_->spent()) {
      counted_.insert(collection);
    }
  }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<std::vector<bool>> saved_ever_;
  mutable std::optional<MatchBudget> left_;
  mutable std::unordered_set<std::string> counted_;
};

}  // namespace smd::detail::trial
