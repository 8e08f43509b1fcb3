// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "draw/chart.hpp"
#include "draw/scale.hpp"

namespace smd::tool {

/// The inside of an SVG that grows downwards. Each kind of content has a `draw_content` below, in a file of its own.
struct Drawing {
  std::string out = {};
  double width = 0;
  double y = 0;  ///< Where the next content begins.
};

/// A coordinate, rounded to a hundredth of a unit.
[[nodiscard]] std::string coordinate(double number);
/// A line of text that starts, ends or is centred at x. `classes` are style classes of `chart.css`.
void put_text(Drawing& to, double x, double y, std::string_view classes, std::string_view text,
              std::string_view anchor = "start");
/// Writes text over the full width in at most `most` lines, and moves `y` below it. A tool tip holds text that does not
/// fit.
void put_paragraph(Drawing& to, std::string_view classes, double font_size, std::string_view text, std::size_t most);

/// A picture in PNG, as base64, stretched over a rectangle. `inside`: SVG within its element.
void put_image(Drawing& to, double x, double y, double width, double height, std::string_view png,
               std::string_view inside = {});

/// An entry of a legend. `sign` is SVG that fits in 24 x 10 units.
struct LegendEntry {
  std::string name;
  std::string sign;
};
/// Draws a legend in as many columns as fit, and moves `y` below it.
void put_legend(Drawing& to, std::span<const LegendEntry> entries);

/// Draws the shades from least to greatest with their numbers, and moves `y` below them.
void put_shades(Drawing& to, std::string_view low, std::string_view high, std::string_view what);

/// Where the numbers of a chart are placed.
struct PlotFrame {
  Scale x;
  Scale y;
};
/// What the axes of curves show.
struct AxisRanges {
  AxisRange x;
  AxisRange y;
};
/// The ranges of all numbers that have a place. A robust y axis leaves out single spikes: numbers that are outside the
/// 1st to 99th percentile by more than its width.
[[nodiscard]] AxisRanges ranges_of(std::span<const ChartCurve> curves, const ChartAxis& y);
/// Draws grid, ticks, names of the axes and findings; moves `y` below them. `margin` is that of the x axis.
[[nodiscard]] PlotFrame put_frame(Drawing& to, const Chart& chart, AxisRange x, AxisRange y, double margin);

void draw_content(Drawing& to, const Chart& chart, const CurveSet& set);
void draw_content(Drawing& to, const Chart& chart, const PercentileFan& fan);
void draw_content(Drawing& to, const Chart& chart, const HeatMap& map);
void draw_content(Drawing& to, const Chart& chart, const BarSet& bars);
void draw_content(Drawing& to, const Chart& chart, const ImageGrid& grid);

}  // namespace smd::tool
