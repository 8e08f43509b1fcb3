// SPDX-License-Identifier: Apache-2.0
#include "thin_curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace smd::tool::report {

namespace {

constexpr std::size_t kept_in_column = 8;  // one more than a column keeps

// What is kept of one column, as places in the points: none twice, in their order.
class ColumnKeeper {
 public:
  void add(std::size_t at, double number) {
    if (first_ == none) {
      first_ = at;
    }
    last_ = at;
    if (!std::isfinite(number)) {
      std::size_t& of_kind = not_finite_[std::isnan(number) ? 0 : number > 0 ? 1 : 2];
      of_kind = of_kind == none ? at : of_kind;
      return;
    }
    if (least_ == none || number < low_) {
      least_ = at;
      low_ = number;
    }
    if (greatest_ == none || number > high_) {
      greatest_ = at;
      high_ = number;
    }
  }

  template <class Take>
  void take(Take&& take) {
    std::array<std::size_t, 7> places = {first_,         last_,          least_,        greatest_,
                                         not_finite_[0], not_finite_[1], not_finite_[2]};
    std::sort(places.begin(), places.end());
    const auto* const end = std::unique(places.begin(), places.end());
    for (const auto* place = places.begin(); place != end && *place != none; ++place) {
      take(*place);
    }
    *this = {};
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  std::size_t first_ = none;
  std::size_t last_ = none;
  std::size_t least_ = none;
  std::size_t greatest_ = none;
  std::array<std::size_t, 3> not_finite_ = {none, none, none};
  double low_ = 0;
  double high_ = 0;
};

void count(CurveFacts& facts, const ChartPoint& point) {
  facts.first = facts.counts.points == 0 ? point : facts.first;
  facts.last = point;
  ++facts.counts.points;
  if (std::isnan(point.y)) {
    ++facts.counts.nan;
  } else if (std::isinf(point.y)) {
    ++(point.y > 0 ? facts.counts.plus : facts.counts.minus);
  } else {
    facts.least = !facts.least || point.y < facts.least->y ? point : facts.least;
    facts.greatest = !facts.greatest || point.y > facts.greatest->y ? point : facts.greatest;
  }
}

}  // namespace

void ThinCurve::add(GlobalStep step, ModeStep counted, double number) {
  if (!empty() && step.value <= last_) {
    return;  // a step that came late, behind ones that were drawn
  }
  last_ = step.value;
  count(facts_, {static_cast<double>(step.value), number});
  if (columns_ == 0) {
    return;
  }
  gaps_.add(counted.value);
  points_.push_back({step.value, number, facts_.counts.points - 1});
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
  std::vector<Kept> kept;
  ColumnKeeper keeper;
  std::uint64_t column = 0;
  const auto keep = [&](std::size_t at) { kept.push_back(points[at]); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint64_t own = (static_cast<std::uint64_t>(points[i].step) - first) >> shift;
    if (own != column) {
      keeper.take(keep);
      column = own;
    }
    keeper.add(i, points[i].number);
  }
  keeper.take(keep);
  return kept;
}

ChartCurve ThinCurve::chart_curve(std::string name, std::size_t columns) const {
  ChartCurve curve = {.name = std::move(name), .counts = facts_.counts};
  const std::vector<Kept> points = thinned(points_, columns);
  const std::vector<std::size_t> gaps = gaps_.gaps();
  auto gap = gaps.begin();
  for (const Kept& point : points) {
    bool after_gap = false;
    for (; gap != gaps.end() && *gap <= point.place; ++gap) {
      after_gap = true;
    }
    if (after_gap && !curve.points.empty()) {
      curve.gaps.push_back(curve.points.size());
    }
    curve.points.push_back({static_cast<double>(point.step), point.number});
  }
  return curve;
}

}  // namespace smd::tool::report
