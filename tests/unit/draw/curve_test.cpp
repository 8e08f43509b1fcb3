// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cli/mapped.hpp"
#include "draw/curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

using smd::tool::curve_text;

TEST_CASE("a curve is stretched or gathered to its width") {
  const std::vector<double> two = {0, 1};
  CHECK(curve_text(two, 4, true) == "__##");
  const std::vector<double> eight = {0, 2, 0, 0, 8, 8, 4, 4};  // means of pairs: 1, 0, 8, 4
  CHECK(curve_text(eight, 4, true) == "._#=");                 // eighths of the range: 1, 0, 8 and so the last, 4
  const std::vector<double> with_nan = {0, std::numeric_limits<double>::quiet_NaN(), 1};
  CHECK(curve_text(with_nan, 3, true) == "_!#");
  CHECK(curve_text({}, 3, true).empty());
}

using smd::tool::GapFinder;

namespace {

using Places = std::vector<std::size_t>;

Places gaps_of(std::initializer_list<std::int64_t> steps) {
  GapFinder finder;
  for (const std::int64_t step : steps) {
    finder.add(step);
  }
  return finder.gaps();
}

}  // namespace

TEST_CASE("steps that are missing leave a gap") {
  CHECK(gaps_of({0, 1, 2, 5, 6, 7}) == Places{3});
  CHECK(gaps_of({0, 10, 20, 40, 50}) == Places{3});
  CHECK(gaps_of({0, 1, 2, 3, 100}) == Places{4});
  CHECK(gaps_of({0, 100, 101, 102, 103}) == Places{1});
  CHECK(gaps_of({0, 1, 2, 9, 10, 11, 30, 31}) == Places{3, 6});
}

TEST_CASE("another distance from some step on is no gap") {
  CHECK(gaps_of({}).empty());
  CHECK(gaps_of({5}).empty());
  CHECK(gaps_of({5, 5000}).empty());
  CHECK(gaps_of({0, 1, 2, 3, 100, 200, 300}).empty());
  CHECK(gaps_of({0, 100, 200, 201, 202}).empty());
  CHECK(gaps_of({0, 100, 200, 299}).empty());
  CHECK(gaps_of({1, 2, 4, 8, 16, 32}).empty());
}

TEST_CASE("a step without its number leaves a gap") {
  GapFinder finder;
  finder.skip();  // nothing before it to be joined
  finder.add(1);
  finder.add(2);
  finder.skip();
  finder.add(4);
  finder.add(5);
  CHECK(finder.gaps() == Places{2});
}

TEST_CASE("of the points shown, those follow a gap that have one anywhere since the point shown before") {
  GapFinder finder;
  std::vector<std::size_t> places;
  for (const std::int64_t step : {0, 1, 2, 6, 7, 8, 9, 20, 21}) {  // gaps before the places 3 and 7
    places.push_back(finder.add(step));
  }
  CHECK(places == Places{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(finder.gaps_among(places) == finder.gaps());
  CHECK(finder.gaps_among(Places{0, 2, 4, 6, 8}) == Places{2, 4});
  CHECK(finder.gaps_among(Places{2, 8}) == Places{1});
  CHECK(finder.gaps_among(Places{3, 4, 5}).empty());  // nothing before it to be joined
  CHECK(finder.gaps_among({}).empty());
}

TEST_CASE("steps may lie as far apart as they can") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  CHECK(gaps_of({least, least + 1, greatest - 1, greatest}) == Places{2});
}

using smd::tool::ChartCurve;
using smd::tool::ChartPoint;
using smd::tool::joined_points;
using smd::tool::JoinedPoints;
using smd::tool::Scale;
using smd::tool::ScaleKind;
using smd::tool::thinned;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The least and the greatest y of each pixel column, of points from 0 to `steps` on `columns` columns.
using Extremes = std::map<std::size_t, std::pair<double, double>>;
Extremes by_column(const std::vector<ChartPoint>& points, double steps, double columns) {
  Extremes all;
  for (const ChartPoint& point : points) {
    const auto column = static_cast<std::size_t>(point.x / steps * columns);
    auto& [least, greatest] = all.try_emplace(column, point.y, point.y).first->second;
    least = std::min(least, point.y);
    greatest = std::max(greatest, point.y);
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
    const std::vector<std::size_t> places = thinned(points, Scale({}, {0, end}, 0, columns));
    CHECK(std::is_sorted(places.begin(), places.end(), std::less_equal<>()));
    const auto kept = smd::tool::mapped(places, [&](std::size_t place) { return points.at(place); });
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
