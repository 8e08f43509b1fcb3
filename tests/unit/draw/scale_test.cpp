// SPDX-License-Identifier: Apache-2.0
#include "draw/scale.hpp"

#include "cli/mapped.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using smd::tool::AxisRange;
using smd::tool::ChartAxis;
using smd::tool::Scale;
using smd::tool::ScaleKind;
using smd::tool::Tick;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double greatest = std::numeric_limits<double>::max();

std::vector<std::string> labels(const ChartAxis& axis, AxisRange extent, std::size_t most) {
  return smd::tool::mapped(Scale(axis, extent, 0, 1).ticks(most), &Tick::label);
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("ticks stand at round numbers") {
  const ChartAxis linear;
  CHECK(labels(linear, {0.03, 0.97}, 5) == Texts{"0.2", "0.4", "0.6", "0.8"});
  CHECK(labels(linear, {-3, 12}, 4) == Texts{"0", "5", "10"});
  CHECK(labels(linear, {0, 20000}, 5) == Texts{"0", "5000", "10000", "15000", "20000"});
  CHECK(labels(linear, {2e-9, 9e-9}, 4) == Texts{"2e-09", "4e-09", "6e-09", "8e-09"});
  CHECK(labels(linear, {1e6, 1.5e6}, 5) == Texts{"1e+06", "1.1e+06", "1.2e+06", "1.3e+06", "1.4e+06", "1.5e+06"});
  CHECK(labels(linear, {100.001, 100.003}, 2) == Texts{"100.001", "100.002", "100.003"});
}

TEST_CASE("steps have whole ticks, in full") {
  const ChartAxis steps = {.whole = true};
  CHECK(labels(steps, {-1, 1}, 9) == Texts{"-1", "0", "1"});
  CHECK(labels(steps, {2000000, 4000000}, 3) == Texts{"2000000", "3000000", "4000000"});
}

TEST_CASE("a logarithmic axis has powers of ten, or numbers between them") {
  const ChartAxis log = {.scale = ScaleKind::logarithmic};
  CHECK(labels(log, {0.00009, 1100}, 8) == Texts{"0.0001", "0.001", "0.01", "0.1", "1", "10", "100", "1000"});
  CHECK(labels(log, {1e-300, 1e300}, 6).size() <= 7);
  CHECK(labels(log, {0.9, 30}, 6) == Texts{"1", "2", "5", "10", "20"});
  CHECK(labels(log, {3, 4}, 5) == Texts{"3", "3.2", "3.4", "3.6", "3.8", "4"});
  const Scale scale(log, {1, 100}, 0, 10);
  CHECK(scale.place(10) == doctest::Approx(5));
  CHECK_FALSE(scale.shows(0));
  CHECK_FALSE(scale.shows(-1));
  CHECK_FALSE(scale.shows(infinity));
}

TEST_CASE("any numbers have an extent in which they lie, and few ticks") {
  const double tiny = std::numeric_limits<double>::denorm_min();
  const std::vector<AxisRange> all = {
      {},
      {0, 0},
      {5, 5},
      {-1e300, -1e300},
      {-greatest, greatest},
      {0, tiny},
      {tiny, tiny},
      {1, 1 + 1e-15},
      {greatest, greatest},
      {1e15, 1e15 + 1},
      {-1e-320, 1e-320},
  };
  for (const ScaleKind kind : {ScaleKind::linear, ScaleKind::logarithmic}) {
    for (const bool whole : {false, true}) {
      for (const AxisRange& drawn : all) {
        CAPTURE(drawn.low);
        CAPTURE(drawn.high);
        if (kind == ScaleKind::logarithmic && !drawn.empty() && !(drawn.low > 0)) {
          continue;
        }
        const ChartAxis axis = {.scale = kind, .whole = whole};
        const AxisRange extent = Scale::extent(axis, drawn, 0.05);
        CHECK(std::isfinite(extent.low));
        CHECK(std::isfinite(extent.high));
        CHECK(extent.low < extent.high);
        const Scale scale(axis, extent, 0, 100);
        if (!drawn.empty()) {
          CHECK(extent.low <= drawn.low);
          CHECK(drawn.high <= extent.high);
          CHECK(scale.place(drawn.low) >= -1e-9);
          CHECK(scale.place(drawn.high) <= 100 + 1e-9);
        }
        const std::vector<Tick> ticks = scale.ticks(6);
        CHECK(ticks.size() <= 13);
        for (const Tick& tick : ticks) {
          CHECK(scale.place(tick.value) >= -1e-6);
          CHECK(scale.place(tick.value) <= 100 + 1e-6);
        }
      }
    }
  }
}

TEST_CASE("what is never negative gets no negative margin; bounds of the axis are kept") {
  CHECK(Scale::extent({}, {0.1, 10}, 0.1).low == 0);
  const ChartAxis share = {.least = 0, .greatest = 1};
  CHECK(Scale::extent(share, {0.2, 0.3}, 0.1).low == 0);
  CHECK(Scale::extent(share, {0.2, 0.3}, 0.1).high == 1);
}
