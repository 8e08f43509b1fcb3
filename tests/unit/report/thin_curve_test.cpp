// SPDX-License-Identifier: Apache-2.0
#include "report/thin_curve.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

using smd::GlobalStep;
using smd::ModeStep;
using smd::tool::ChartCurve;
using smd::tool::ChartPoint;
using smd::tool::report::ThinCurve;

namespace {

struct Extremes {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  bool operator==(const Extremes&) const = default;
};

// By columns of a width that is a power of two, from the first step on.
std::map<std::int64_t, Extremes> by_column(const std::vector<ChartPoint>& points, std::int64_t width) {
  std::map<std::int64_t, Extremes> all;
  for (const ChartPoint& point : points) {
    if (std::isfinite(point.y)) {
      Extremes& of = all[static_cast<std::int64_t>(point.x - points.front().x) / width];
      of.least = std::min(of.least, point.y);
      of.greatest = std::max(of.greatest, point.y);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a curve in bounded memory keeps the extremes of each column, and facts of all points") {
  std::mt19937 random(23);  // NOLINT: the same each time
  for (const int steps : {1, 7, 900, 60000}) {
    constexpr std::size_t columns = 32;
    ThinCurve curve(columns);
    std::vector<ChartPoint> all;
    std::size_t nan = 0;
    std::int64_t step = 5;
    for (int i = 0; i < steps; ++i) {
      const unsigned draw = random();
      const double number = draw % 97 == 0    ? std::nan("")
                            : draw % 101 == 0 ? std::numeric_limits<double>::infinity()
                                              : static_cast<double>(draw % 5000) - 2500;
      nan += std::isnan(number) ? 1 : 0;
      all.push_back({static_cast<double>(step), number});
      curve.add(GlobalStep(step), ModeStep(step), number);
      step += 1 + static_cast<std::int64_t>(random() % 3);
    }
    const ChartCurve drawn = curve.chart_curve("c", columns);
    // Of each column at most first, last, least, greatest, and one NaN and one infinity.
    CHECK(drawn.points.size() <= 6 * columns + 4 * columns);
    REQUIRE(drawn.counts.has_value());
    CHECK(drawn.counts->points == all.size());
    CHECK(drawn.counts->nan == nan);
    CHECK(drawn.points.front().x == all.front().x);
    CHECK(drawn.points.back().x == all.back().x);
    // The widest columns that so many steps can have been put into: less than 32 of them make the whole.
    std::int64_t width = 1;
    while ((step - 5) / width >= static_cast<std::int64_t>(columns)) {
      width *= 2;
    }
    CHECK(by_column(drawn.points, width) == by_column(all, width));
    CHECK(std::any_of(drawn.points.begin(), drawn.points.end(),
                      [](const ChartPoint& point) { return std::isnan(point.y); }) == (nan != 0));
  }
}

TEST_CASE("gaps stay between the points that they part, however few are kept") {
  ThinCurve curve(16);
  for (std::int64_t step = 0; step < 4000; ++step) {
    if (step < 2000 || step >= 2600) {
      curve.add(GlobalStep(step), ModeStep(step), 1);
    }
  }
  const ChartCurve drawn = curve.chart_curve("c", 16);
  REQUIRE(drawn.gaps.size() == 1);
  CHECK(drawn.points[drawn.gaps[0] - 1].x == 1999);
  CHECK(drawn.points[drawn.gaps[0]].x == 2600);
}

TEST_CASE("steps at the ends of what a number holds") {
  ThinCurve curve(2);
  for (const std::int64_t step : {INT64_MIN, INT64_C(-1), INT64_C(0), INT64_C(1), INT64_MAX}) {
    curve.add(GlobalStep(step), ModeStep(step), static_cast<double>(step));
  }
  CHECK(curve.facts().counts.points == 5);
  CHECK(!curve.chart_curve("c", 1).points.empty());
}

TEST_CASE("a step that comes late is not drawn backwards") {
  ThinCurve curve;
  curve.add(GlobalStep(5), ModeStep(5), 1);
  curve.add(GlobalStep(3), ModeStep(3), 2);
  CHECK(curve.facts().counts.points == 1);
}

TEST_CASE("without columns only the facts are known") {
  ThinCurve curve(0);
  CHECK(curve.empty());
  for (std::int64_t step = 0; step < 10; ++step) {
    curve.add(GlobalStep(step), ModeStep(step), step == 4 ? -1 : 2);
  }
  curve.add(GlobalStep(3), ModeStep(3), 7);  // late
  CHECK(!curve.empty());
  CHECK(curve.facts().counts.points == 10);
  CHECK(curve.facts().least->x == 4);
  CHECK(curve.facts().greatest->y == 2);
}
