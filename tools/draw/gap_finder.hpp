// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace smd::tool {

/// Finds where steps are missing in a curve: where the distance between two steps is more than 1.5 times the distances
/// before and after it. A job that saves less often from some step on leaves no gap.
class GapFinder {
 public:
  /// The step of the next point; they ascend.
  void add(std::int64_t step);
  /// Notes that a step which should have a point has none.
  void skip() noexcept { skipped_ = count_ != 0; }

  /// The places of the points that follow a gap, ascending.
  [[nodiscard]] std::vector<std::size_t> gaps() const;

 private:
  [[nodiscard]] static bool is_gap(double distance, double before, double after) noexcept;

  std::size_t count_ = 0;
  std::int64_t last_ = 0;
  double distance_ = 0;  // between the last two; 0: there are none
  double before_ = 0;    // the one before that
  bool skipped_ = false;
  std::vector<std::size_t> gaps_;  // those that are certain
};

}  // namespace smd::tool
