// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "draw/chart.hpp"
#include "draw/scale.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace smd::tool {

/// Draws numbers as a curve that is `columns` wide: several numbers in one column are their mean, one number may take
/// several columns; NaN and infinities are marked. Empty if there are no numbers.
[[nodiscard]] std::string curve_text(std::span<const double> numbers, std::size_t columns, bool ascii);

/// Finds where steps are missing in a curve: where the distance between two steps is more than 1.5 times the distances
/// before and after it. A job that saves less often from some step on leaves no gap.
class GapFinder {
 public:
  /// The step of the next point; they ascend. Returns the point's place.
  std::size_t add(std::int64_t step);
  /// Notes that a step which should have a point has none.
  void skip() noexcept { skipped_ = count_ != 0; }

  /// The places of the points that follow a gap, ascending.
  [[nodiscard]] std::vector<std::size_t> gaps() const;
  /// As `gaps`, if only the points at `places`, which ascend, are shown: which of these follow a gap.
  [[nodiscard]] std::vector<std::size_t> gaps_among(std::span<const std::size_t> places) const;

 private:
  [[nodiscard]] static bool is_gap(double distance, double before, double after) noexcept;

  std::size_t count_ = 0;
  std::int64_t last_ = 0;
  double distance_ = 0;  // between the last two; 0: there are none
  double before_ = 0;    // the one before that
  bool skipped_ = false;
  std::vector<std::size_t> gaps_;  // those that are certain
};

/// Points of a curve that a line joins: from `begin` to before `end`.
struct JoinedPoints {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::span<const ChartPoint> of(const ChartCurve& curve) const {
    return std::span(curve.points).subspan(begin, end - begin);
  }
};

/// The parts of a curve between its gaps and the points without a place on the axis: NaN, infinities and, on a
/// logarithmic axis, numbers that are not positive. No part is empty.
[[nodiscard]] std::vector<JoinedPoints> joined_points(const ChartCurve& curve, const Scale& y);

/// Which of the points that a line joins suffice to draw the same line: in each column of `x`, 1 wide, the first, the
/// last, the least and the greatest. Ascending.
[[nodiscard]] std::vector<std::size_t> thinned(std::span<const ChartPoint> points, const Scale& x);

}  // namespace smd::tool
