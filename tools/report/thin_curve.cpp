// SPDX-License-Identifier: Apache-2.0
#include "thin_curve.hpp"

#include "cli/mapped.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace smd::tool::report {

void ThinCurve::add(GlobalStep step, ModeStep counted, double number) {
  if (!empty() && step.value <= last_) {
    return;  // a step that came late, behind ones that were drawn
  }
  last_ = step.value;
  facts_.add({static_cast<double>(step.value), number});
  if (columns_ == 0) {
    return;
  }
  constexpr std::size_t kept_in_column = 8;  // one more than a column keeps
  points_.push_back({step.value, number, gaps_.add(counted.value)});
  if (points_.size() >= kept_in_column * columns_) {
    points_ = thinned(points_, columns_);
  }
}

std::vector<ThinCurve::Kept> ThinCurve::thinned(const std::vector<Kept>& points, std::size_t columns) {
  if (points.size() <= 4 * columns) {
    return points;
  }
  const auto first = static_cast<std::uint64_t>(points.front().step);  // steps may lie far apart
  unsigned shift = 0;                                                  // a column's width is a power of two
  while (shift < 63 && (static_cast<std::uint64_t>(points.back().step) - first) >> shift >= columns) {
    ++shift;
  }
  const auto column_of = [&](const Kept& point) { return (static_cast<std::uint64_t>(point.step) - first) >> shift; };
  const std::size_t none = points.size();
  std::vector<Kept> kept;
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    const std::uint64_t column = column_of(points[begin]);
    std::size_t least = none;
    std::size_t greatest = none;
    std::array<std::size_t, 3> not_finite = {none, none, none};  // the first of each kind
    for (; end < points.size() && column_of(points[end]) == column; ++end) {
      const double number = points[end].number;
      if (std::isfinite(number)) {
        least = least == none || number < points[least].number ? end : least;
        greatest = greatest == none || number > points[greatest].number ? end : greatest;
      } else {
        std::size_t& of_kind = not_finite[std::isnan(number) ? 0 : number > 0 ? 1 : 2];
        of_kind = std::min(of_kind, end);
      }
    }
    std::array<std::size_t, 7> places = {begin, end - 1, least, greatest, not_finite[0], not_finite[1], not_finite[2]};
    std::ranges::sort(places);
    const auto* const last = std::unique(places.begin(), places.end());
    for (const auto* place = places.begin(); place != last && *place != none; ++place) {
      kept.push_back(points[*place]);
    }
  }
  return kept;
}

ChartCurve ThinCurve::chart_curve(std::string name, std::size_t columns) const {
  const std::vector<Kept> points = thinned(points_, columns);
  const auto drawn = [](const Kept& point) { return ChartPoint{static_cast<double>(point.step), point.number}; };
  return {.name = std::move(name),
          .points = mapped(points, drawn),
          .gaps = gaps_.gaps_among(mapped(points, &Kept::place)),
          .counts = facts_.counts};
}

}  // namespace smd::tool::report
