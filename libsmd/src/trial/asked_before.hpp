// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/limits.hpp>
#include "text/pattern.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace smd::detail::trial {

/// State that queries of one snapshot share. A copy starts empty, because it belongs to another snapshot. Thread-safe.
class AskedBefore {
 public:
  AskedBefore() = default;
  AskedBefore(const AskedBefore& /*other*/) noexcept {}
  AskedBefore& operator=(const AskedBefore& /*other*/) = delete;
  ~AskedBefore() = default;

  /// Returns the tensors of which something was saved at some step; calls `make` the first time only. The reference
  /// stays valid.
  template <class Make>
  [[nodiscard]] const std::vector<bool>& saved_ever(const Make& make) const {
    const std::lock_guard lock(mutex_);
    if (!saved_ever_) {
      saved_ever_ = make();
    }
    return *saved_ever_;
  }

  /// Returns the budget of a collection's patterns for a number of names: what the patterns of other collections left.
  /// A collection that once finished within its budget gets the full budget again, and its steps are not counted twice.
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
