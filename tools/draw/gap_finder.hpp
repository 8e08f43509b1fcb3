// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace smd::tool {

/// Finds where steps are missing in a curve: where the distance between two steps is more than half as great again as
/// the distances before and after it. A job that saves less often from some step on leaves no gap.
class GapFinder {
 public:
  /// The step of the next point; they ascend.
  void add(std::int64_t step);
  /// A step at which there should be a point is without one.
  void skip() noexcept { skipped_ = count_ != 0; }

  /// The places of the points that a gap comes before, ascending.
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
