// SPDX-License-Identifier: Apache-2.0
#include "draw/curve.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

using smd::tool::ChartCurve;
using smd::tool::ChartPoint;
using smd::tool::joined_points;
using smd::tool::JoinedPoints;
using smd::tool::Scale;
using smd::tool::ScaleKind;
using smd::tool::thinned;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct Extremes {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  bool operator==(const Extremes&) const = default;
};

// The least and the greatest y of each pixel column, of points from 0 to `steps` on `columns` columns.
std::map<std::size_t, Extremes> by_column(const std::vector<ChartPoint>& points, double steps, double columns) {
  std::map<std::size_t, Extremes> all;
  for (const ChartPoint& point : points) {
    Extremes& of = all[static_cast<std::size_t>(point.x / steps * columns)];
    of.least = std::min(of.least, point.y);
    of.greatest = std::max(of.greatest, point.y);
  }
  return all;
}

}  // namespace

TEST_CASE("a thinned curve keeps the extremes of each column, its ends, and nothing that is not needed") {
  std::mt19937 random(23);  // NOLINT: the same each time
  for (int round = 0; round < 60; ++round) {
    const std::size_t steps = std::vector<std::size_t>{1, 2, 7, 500, 20000}[static_cast<std::size_t>(round) % 5];
    const auto columns = static_cast<double>(1 + random() % 600);
    std::vector<ChartPoint> points;
    for (std::size_t step = 0; step < steps; ++step) {
      if (points.empty() || random() % 3 != 0) {
        // Few different numbers: ties. Now and then a spike.
        points.push_back({static_cast<double>(step), random() % 100 == 0 ? 1e9 : static_cast<double>(random() % 50)});
      }
    }
    const auto end = static_cast<double>(steps);
    std::vector<ChartPoint> kept;
    const std::vector<std::size_t> places = thinned(points, Scale({}, {0, end}, 0, columns));
    CHECK(std::is_sorted(places.begin(), places.end(), std::less_equal<>()));
    for (const std::size_t place : places) {
      kept.push_back(points.at(place));
    }
    REQUIRE(!kept.empty());
    CHECK(kept.front().x == points.front().x);
    CHECK(kept.back().x == points.back().x);
    CHECK(by_column(kept, end, columns) == by_column(points, end, columns));
    CHECK(static_cast<double>(kept.size()) <= 4 * (columns + 1));
  }
}

TEST_CASE("a curve is joined neither over a gap nor over what has no place") {
  std::mt19937 random(5);  // NOLINT: the same each time
  const Scale linear({}, {-1, 1}, 0, 1);
  const Scale log({.scale = ScaleKind::logarithmic}, {0.5, 1}, 0, 1);
  const std::vector<double> numbers = {1, 1, 1, 1, 0.5, 0, -1, not_a_number, std::numeric_limits<double>::infinity()};
  for (int round = 0; round < 200; ++round) {
    ChartCurve curve;
    for (std::size_t i = 0; i < 50; ++i) {
      curve.points.push_back({static_cast<double>(i), numbers[random() % numbers.size()]});
      if (i != 0 && random() % 8 == 0) {
        curve.gaps.push_back(i);
      }
    }
    for (const Scale* const scale : {&linear, &log}) {
      const auto shown = [&](std::size_t i) {
        const double y = curve.points[i].y;
        return std::isfinite(y) && (scale == &linear || y > 0);
      };
      const auto gap_before = [&](std::size_t i) {
        return std::find(curve.gaps.begin(), curve.gaps.end(), i) != curve.gaps.end();
      };
      // Which part each point belongs to, 0 for none, counted here point by point.
      std::vector<std::size_t> expected;
      std::size_t part = 0;
      for (std::size_t i = 0; i < curve.points.size(); ++i) {
        part += shown(i) && (i == 0 || !shown(i - 1) || gap_before(i)) ? 1 : 0;
        expected.push_back(shown(i) ? part : 0);
      }
      std::vector<std::size_t> got(curve.points.size(), 0);
      std::size_t number = 0;
      for (const JoinedPoints& joined : joined_points(curve, *scale)) {
        ++number;
        for (std::size_t i = joined.begin; i < joined.end; ++i) {
          got.at(i) = number;
        }
      }
      CHECK(got == expected);
    }
  }
}
