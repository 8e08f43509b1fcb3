// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "draw/chart.hpp"
#include "draw/scale.hpp"

namespace smd::tool {

/// Points of a curve that a line joins: from `begin` to before `end`.
struct JoinedPoints {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The parts of a curve between its gaps and the points without a place on the axis: NaN, infinities and, on a
/// logarithmic axis, numbers that are not positive. No part is empty.
[[nodiscard]] std::vector<JoinedPoints> joined_points(const ChartCurve& curve, const Scale& y);

/// Which of the points that a line joins suffice to draw the same line: in each column of `x`, 1 wide, the first, the
/// last, the least and the greatest. Ascending.
[[nodiscard]] std::vector<std::size_t> thinned(std::span<const ChartPoint> points, const Scale& x);

}  // namespace smd::tool
