// SPDX-License-Identifier: Apache-2.0
#include "draw/svg.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

using smd::tool::BarSet;
using smd::tool::Chart;
using smd::tool::ChartCurve;
using smd::tool::ChartFinding;
using smd::tool::CurveSet;
using smd::tool::HeatMap;
using smd::tool::ImageGrid;
using smd::tool::PercentileFan;
using smd::tool::svg_document;
using smd::tool::svg_element;

namespace {

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

Chart two_points() {
  return {
      .title = "loss", .x = {.name = "step"}, .content = CurveSet{{{.name = "loss", .points = {{0, 1}, {100, 2}}}}}};
}

}  // namespace

TEST_CASE("findings are marked at their step, link to where more is said, and are described in words") {
  Chart chart = two_points();
  chart.findings = {{50, "NaN <here>", "#finding-1"}, {50.0001, "the same place", ""}, {100, "end", ""}};
  const std::string svg = svg_element(chart);
  CHECK(count(svg, "<a href=\"#finding-1\"><title>NaN &lt;here&gt;</title>") == 1);
  CHECK(count(svg, "class=\"finding\"") == 2);  // one for each place
  CHECK(count(svg, "the same place") == 1);     // but each in words
  CHECK(count(svg, "<here>") == 0);
}

TEST_CASE("what is about some curves is marked in their colour") {
  Chart chart = two_points();
  chart.findings = {{.x = 50, .text = "of one", .link = "", .hue = 9}};  // of seven colours
  const std::string svg = svg_element(chart);
  CHECK(count(svg, "class=\"finding c2\"") == 1);
  CHECK(count(svg, "class=\"flag f2\"") == 1);
}

TEST_CASE("a robust axis leaves out single spikes, and marks where the curve leaves it") {
  Chart chart = two_points();
  ChartCurve& curve = std::get<CurveSet>(chart.content).curves.front();
  curve.points.clear();
  for (int i = 0; i < 50; ++i) {
    curve.points.push_back({static_cast<double>(i), i == 20 ? 1e9 : i == 30 ? -1e9 : 1.0 + i});
  }
  CHECK(count(svg_element(chart), "the range shown") == 0);
  chart.y.robust = true;
  const std::string svg = svg_element(chart);
  CHECK(count(svg, "above the range shown, up to 1e+09") == 1);
  CHECK(count(svg, "below the range shown, down to -1e+09") == 1);
  CHECK(count(svg, ">40<") == 2);  // ticks of both axes
  chart.y.scale = smd::tool::ScaleKind::logarithmic;
  CHECK(count(svg_element(chart), "above the range shown") == 0);
}

TEST_CASE("a page gets no style and no heading of its own with each chart") {
  CHECK(count(svg_element(two_points()), "<style>") == 0);
  const std::vector<Chart> charts = {two_points(), two_points()};
  const std::string document = svg_document(charts, "heading");
  CHECK(count(document, "<style>") == 1);
  CHECK(count(document, "xmlns=\"http://www.w3.org/2000/svg\"") == 1);
  CHECK(count(document, "<title>heading</title>") == 1);
  CHECK(count(document, "id=\"") == 0);
}

TEST_CASE("anything can be drawn: nothing, one point, numbers that are none, as large as they can be") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double most = std::numeric_limits<double>::max();
  const std::vector<std::vector<double>> all = {{},          {1},      {nan}, {nan, inf, -inf}, {-most, most},
                                                {0, 5e-324}, {2, 2, 2}};
  for (const std::vector<double>& numbers : all) {
    for (const smd::tool::ScaleKind scale : {smd::tool::ScaleKind::linear, smd::tool::ScaleKind::logarithmic}) {
      ChartCurve curve = {.name = "x"};
      for (const double number : numbers) {
        curve.points.push_back({static_cast<double>(curve.points.size()), number});
      }
      Chart chart = {.title = "t", .y = {.scale = scale}, .content = CurveSet{{curve}}};
      std::string text = svg_element(chart);
      chart.content = PercentileFan{{{curve, curve, curve}}};
      text += svg_element(chart);
      if (!numbers.empty()) {
        chart.content = ImageGrid{{{.caption = "", .rows = 1, .columns = numbers.size(), .numbers = numbers}}};
        text += svg_element(chart);
      }
      for (std::size_t at = text.find("<desc>"); at != std::string::npos; at = text.find("<desc>")) {
        text.erase(at, text.find("</desc>", at) - at);  // where such numbers are listed
      }
      CHECK(count(text, "nan") == 0);  // no coordinate is one; `NaN` in a legend is written so
      CHECK(count(text, "=\"inf") + count(text, " inf ") + count(text, "Minf") + count(text, "-inf") == 0);
    }
  }
}

TEST_CASE("histograms without elements, and with edges as far apart as doubles are") {
  constexpr double most = std::numeric_limits<double>::max();
  for (const std::vector<double>& counts : {std::vector<double>{0, 0}, {0, 3}, {1, 1}}) {
    const std::vector<double> edges = {-most, 0, most};
    Chart chart = {.title = "t", .content = BarSet{edges, counts}};
    CHECK(count(svg_element(chart), "nan") == 0);
    chart.content = HeatMap{{{0, edges, counts}, {5, edges, counts}}};
    CHECK(count(svg_element(chart), "nan") == 0);
  }
}
