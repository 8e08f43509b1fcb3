// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "draw/chart.hpp"
#include "draw/scale.hpp"

namespace smd::tool {

/// The inside of an SVG that grows downwards. Each kind of content adds itself: `draw_…` below, a file each.
struct Drawing {
  std::string out = {};
  double width = 0;
  double y = 0;  ///< Where there is room.
};

/// A coordinate: to a hundredth of a unit.
[[nodiscard]] std::string coordinate(double number);
/// A line of text that starts, ends or is centred at x. `classes` are style classes of `chart_style`.
void put_text(Drawing& to, double x, double y, std::string_view classes, std::string_view text,
              std::string_view anchor = "start");
/// Text that fills the width in at most `most` lines, and moves on below. Of what does not fit in, a tool tip has the
/// whole.
void put_paragraph(Drawing& to, std::string_view classes, double font_size, std::string_view text, std::size_t most);

/// A line of a legend: what stands beside it is SVG that fits in 24 x 10 units.
struct LegendEntry {
  std::string name;
  std::string sign;
};
/// In as many columns as the names leave room for, and moves on below.
void put_legend(Drawing& to, std::span<const LegendEntry> entries);

/// Shades from least to greatest with their numbers, and moves on below.
void put_shades(Drawing& to, std::string_view low, std::string_view high, std::string_view what);

/// Where the numbers of a chart lie.
struct PlotFrame {
  Scale x;
  Scale y;
};
/// Grid, ticks, names of the axes and findings; moves on below. `margin` is that of the x axis.
[[nodiscard]] PlotFrame put_frame(Drawing& to, const Chart& chart, Extent x, Extent y, double margin);

void draw_content(Drawing& to, const Chart& chart, const CurveSet& set);
void draw_content(Drawing& to, const Chart& chart, const PercentileFan& fan);
void draw_content(Drawing& to, const Chart& chart, const HeatMap& map);
void draw_content(Drawing& to, const Chart& chart, const BarSet& bars);
void draw_content(Drawing& to, const Chart& chart, const ImageGrid& grid);

}  // namespace smd::tool
