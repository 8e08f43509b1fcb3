// SPDX-License-Identifier: Apache-2.0
#include "rows/curves.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <variant>
#include <vector>

using smd::Mode;
using smd::tool::Chart;
using smd::tool::ChartCurve;
using smd::tool::Curves;
using smd::tool::CurveSet;
using smd::tool::Dash;
using smd::tool::percentile_order;
using smd::tool::PercentileFan;
using smd::tool::ScaleKind;
using smd::tool::SmoothedSeries;
using smd::tool::statistic_axis;

namespace {

Curves::Point at(std::string_view tensor, Mode mode, std::size_t reduction, std::int64_t step) {
  return {.tensor = tensor, .worker = "w", .mode = mode, .reduction = reduction, .step = step, .mode_step = step};
}

const std::vector<ChartCurve>& curves_of(const Chart& chart) { return std::get<CurveSet>(chart.content).curves; }

}  // namespace

TEST_CASE("a smoothed series is that of its steps in their order, whatever the order in which they came") {
  // By hand: s = (s + x) / 2, divided by 1 - 0.5^n.
  SmoothedSeries series{0.5};
  CHECK(series.put(0, 4) == 4);
  CHECK(series.put(2, 2) == doctest::Approx(8.0 / 3));
  CHECK(series.put(1, 6) == doctest::Approx(16.0 / 3));
  CHECK(series.put(3, 1) == doctest::Approx(32.0 / 15));
  CHECK(series.find(2)->mean == doctest::Approx(24.0 / 7));
  CHECK(series.put(1, std::numeric_limits<double>::infinity()) == std::numeric_limits<double>::infinity());
  CHECK(series.find(2)->mean == doctest::Approx(8.0 / 3));
  series.points.erase(series.points.begin() + 1);
  CHECK(series.find(1) == nullptr);
  CHECK(series.put(2, 8) == doctest::Approx(20.0 / 3));
  CHECK(series.find(3)->mean == doctest::Approx(24.0 / 7));
}

TEST_CASE("what is the same of all curves stands above the chart, what differs names them") {
  Curves curves;
  for (const char* const trial : {"a", "b"}) {
    curves.set_trial(trial);
    for (const Mode mode : {Mode::train, Mode::eval}) {
      curves.add(at("loss", mode, 0, 0), 1);
    }
  }
  const std::vector<std::string> names = {"mean"};
  const std::vector<Chart> charts = curves.take_charts(names, ScaleKind::linear);
  REQUIRE(charts.size() == 1);
  CHECK(charts[0].title == "mean of loss");
  CHECK(charts[0].subtitle == "2 trials, worker w");
  CHECK(charts[0].x.name == "step (of all modes)");
  const std::vector<ChartCurve>& drawn = curves_of(charts[0]);
  REQUIRE(drawn.size() == 4);
  CHECK(drawn[0].name == "a, train");
  CHECK(drawn[3].name == "b, eval");
  // A colour for each trial, dashes for evaluation.
  CHECK(drawn[0].hue == drawn[1].hue);
  CHECK(drawn[2].hue == drawn[3].hue);
  CHECK(drawn[0].hue != drawn[2].hue);
  CHECK(drawn[0].dash == Dash::solid);
  CHECK(drawn[1].dash == Dash::dashed);
  CHECK(curves.empty());
}

TEST_CASE(
    "a smooth curve is drawn over its values, which are pale, of the same colour and without a name in the legend") {
  Curves curves;
  curves.set_trial("run");
  for (const char* const tensor : {"accuracy", "loss"}) {
    for (const bool smooth : {false, true}) {
      Curves::Point point = at(tensor, Mode::global, 0, 0);
      point.smooth = smooth;
      curves.add(point, smooth ? 0.5 : 1);
    }
  }
  const std::vector<Chart> charts = curves.take_charts({}, ScaleKind::linear);
  REQUIRE(charts.size() == 1);
  CHECK(charts[0].title == "2 tensors");
  CHECK(charts[0].subtitle == "run, worker w, pale: not smoothed");
  const std::vector<ChartCurve>& drawn = curves_of(charts[0]);
  REQUIRE(drawn.size() == 4);  // what comes later lies above
  CHECK(drawn[0].name == "accuracy");
  CHECK(drawn[0].pale);
  CHECK(drawn[1].name == "loss");
  CHECK(drawn[1].pale);
  CHECK(drawn[2].name == "accuracy (smooth)");
  CHECK(drawn[3].name == "loss (smooth)");
  CHECK_FALSE(drawn[3].pale);
  CHECK(drawn[3].points[0].y == 0.5);
  CHECK(drawn[0].hue == drawn[2].hue);
  CHECK(drawn[1].hue == drawn[3].hue);
  CHECK(drawn[0].hue != drawn[1].hue);
}

TEST_CASE("where there are too many curves to tell apart, none is pale, and none is said to be") {
  Curves curves;
  curves.set_trial("run");
  for (std::size_t i = 0; i <= smd::tool::most_named_curves; ++i) {
    const std::string tensor = "loss" + std::to_string(i);
    for (const bool smooth : {false, true}) {
      Curves::Point point = at(tensor, Mode::global, 0, 0);
      point.smooth = smooth;
      curves.add(point, 1);
    }
  }
  const std::vector<Chart> charts = curves.take_charts({}, ScaleKind::linear);
  REQUIRE(charts.size() == 1);
  CHECK(charts[0].subtitle == "run, worker w");
  CHECK(curves_of(charts[0]).size() == smd::tool::most_named_curves + 1);
}

TEST_CASE("a chart for each reduction; a number that is not available leaves a gap, or no curve") {
  Curves curves;
  curves.set_trial("a");
  for (std::int64_t step = 0; step < 4; ++step) {
    curves.add(at("x", Mode::global, 0, step), 1);
    step == 2 ? curves.skip(at("x", Mode::global, 1, step)) : curves.add(at("x", Mode::global, 1, step), 2);
    curves.skip(at("x", Mode::global, 2, step));
  }
  const std::vector<std::string> names = {"mean", "l2", "std"};
  const std::vector<Chart> charts = curves.take_charts(names, ScaleKind::linear);
  REQUIRE(charts.size() == 2);
  CHECK(curves_of(charts[0])[0].gaps.empty());
  CHECK(charts[1].title == "l2 of x");
  CHECK(curves_of(charts[1])[0].gaps == std::vector<std::size_t>{2});
}

TEST_CASE("percentiles are a fan, from the least to the greatest") {
  Curves curves;
  curves.set_trial("a");
  const std::vector<std::string> names = {"max", "min", "p50"};
  for (std::size_t reduction = 0; reduction < names.size(); ++reduction) {
    curves.add(at("x", Mode::global, reduction, 0), static_cast<double>(reduction));
  }
  const std::vector<Chart> charts = curves.take_charts(names, ScaleKind::linear);
  REQUIRE(charts.size() == 1);
  const std::vector<ChartCurve>& fan = std::get<PercentileFan>(charts[0].content).curves;
  REQUIRE(fan.size() == 3);
  CHECK(fan[0].name == "min");
  CHECK(fan[2].name == "max");
  CHECK(fan[1].points.at(0).y == 2);
}

TEST_CASE("statistics by their names") {
  CHECK(statistic_axis("abs_mean").name == "mean of the elements, of absolute values");
  CHECK(statistic_axis("p99.9").name == "percentile 99.9 of the elements");
  CHECK(statistic_axis("my own").name == "my own");
  CHECK(statistic_axis("zero_fraction").greatest == 1);
  CHECK(percentile_order(std::vector<std::string>{"p75", "min", "median"}) == std::vector<std::size_t>{1, 2, 0});
  CHECK(percentile_order(std::vector<std::string>{"p50", "median", "max"}).empty());
  CHECK(percentile_order(std::vector<std::string>{"min", "mean", "max"}).empty());
  CHECK(percentile_order(std::vector<std::string>{"p101"}).empty());
}
