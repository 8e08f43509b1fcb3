// SPDX-License-Identifier: Apache-2.0
#include "draw/thinning.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace smd::tool {

std::vector<JoinedPoints> joined_points(const ChartCurve& curve, const Scale& y) {
  std::vector<JoinedPoints> parts;
  auto gap = curve.gaps.begin();
  bool joined = false;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    while (gap != curve.gaps.end() && *gap < i) {
      ++gap;
    }
    if (gap != curve.gaps.end() && *gap == i) {
      joined = false;
    }
    if (!y.shows(curve.points[i].y)) {
      joined = false;
      continue;
    }
    if (!joined) {
      parts.push_back({i, i});
    }
    parts.back().end = i + 1;
    joined = true;
  }
  return parts;
}

std::vector<std::size_t> thinned(std::span<const ChartPoint> points, const Scale& x) {
  std::vector<std::size_t> kept;
  for (std::size_t begin = 0; begin < points.size();) {
    const double column = std::floor(x.place(points[begin].x));
    std::size_t least = begin;
    std::size_t greatest = begin;
    std::size_t end = begin;
    for (; end < points.size() && std::floor(x.place(points[end].x)) == column; ++end) {
      least = points[end].y < points[least].y ? end : least;
      greatest = points[end].y > points[greatest].y ? end : greatest;
    }
    std::array<std::size_t, 4> of_column = {begin, least, greatest, end - 1};
    std::sort(of_column.begin(), of_column.end());
    kept.insert(kept.end(), of_column.begin(), std::unique(of_column.begin(), of_column.end()));
    begin = end;
  }
  return kept;
}

}  // namespace smd::tool
