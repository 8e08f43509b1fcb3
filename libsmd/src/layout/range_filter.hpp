// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step_range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace smd::detail::layout {

/// Returns whether one of the ranges includes all steps.
[[nodiscard]] bool takes_all(std::span<const StepRange> ranges) noexcept;

/// Tests whether a step is in one of several ranges. Ranges that count steps refer to `steps`.
class RangeFilter {
 public:
  RangeFilter(std::span<const StepRange> ranges, std::span<const std::pair<std::int64_t, std::size_t>> steps);

  [[nodiscard]] bool holds(std::int64_t step) const noexcept {
    return std::any_of(bounds_.begin(), bounds_.end(), [step](const Bounds& bounds) {
      return !bounds.empty && step >= bounds.first && step <= bounds.last;
    });
  }

 private:
  struct Bounds {
    std::int64_t first = INT64_MIN;
    std::int64_t last = INT64_MAX;
    bool empty = false;
  };
  std::vector<Bounds> bounds_;
};

}  // namespace smd::detail::layout
