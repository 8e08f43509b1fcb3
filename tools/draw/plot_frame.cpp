// SPDX-License-Identifier: Apache-2.0
// The frame of a plot: grid, ticks, names of the axes, findings.
#include "cli/escape.hpp"
#include "draw/drawing.hpp"
#include "draw/palette.hpp"
#include "draw/text_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smd::tool {

namespace {

constexpr double plot_part = 0.52;  // height of a plot, as a part of the width
constexpr double tick_font = 13;
constexpr double flag_room = 16;  // above the plot, if there are findings

double widest_label(const std::vector<Tick>& ticks) {
  double widest = 0;
  for (const Tick& tick : ticks) {
    widest = std::max(widest, text_width(tick.label) * tick_font);
  }
  return widest;
}

// As many ticks as fit beside each other.
std::vector<Tick> ticks_along(const ChartAxis& axis, AxisRange extent, double length) {
  const Scale scale(axis, extent, 0, length);
  for (std::size_t most = 9; most > 2; --most) {
    std::vector<Tick> ticks = scale.ticks(most);
    const double room = length / static_cast<double>(std::max<std::size_t>(ticks.size(), 1));
    if (widest_label(ticks) + 14 <= room) {
      return ticks;
    }
  }
  return scale.ticks(2);
}

// A line at the step of each finding, and a flag where there is room for one. What is about some curves has only a
// short line in their colour: of many trials there may be many.
void put_findings(Drawing& to, const Chart& chart, const Scale& x, double top, double bottom) {
  double last_line = -1;
  double last_flag = -flag_room;
  for (std::size_t i = 0; i < chart.findings.size(); ++i) {
    const ChartFinding& finding = chart.findings[i];
    if (!x.shows(finding.x)) {
      continue;
    }
    const double place = x.place(finding.x);
    const bool flag = place - last_flag >= flag_room;
    if (place < x.from() || place > x.to() || (!flag && place - last_line < 1)) {
      continue;
    }
    last_line = place;
    const std::string at = coordinate(place);
    to.out += finding.link.empty() ? "<g>" : fmt::format(R"(<a href="{}">)", xml(finding.link));
    const std::string stroke = finding.hue ? fmt::format(" c{}", *finding.hue % hues) : std::string();
    to.out += fmt::format(R"(<title>{}</title><path class="finding{}" d="M{} {}V{}"/>)", xml(finding.text), stroke, at,
                          coordinate(top), coordinate(finding.hue ? top + flag_room / 2 : bottom));
    if (flag || finding.hue) {
      last_flag = place;
      const std::string fill = finding.hue ? fmt::format(" f{}", *finding.hue % hues) : std::string();
      to.out += fmt::format(R"(<path class="flag{}" d="M{} {}l-5 -8h10z"/>)", fill, at, coordinate(top));
    }
    to.out += finding.link.empty() ? "</g>\n" : "</a>\n";
  }
}

}  // namespace

PlotFrame put_frame(Drawing& to, const Chart& chart, AxisRange x, AxisRange y, double margin) {
  const AxisRange x_extent = Scale::extent(chart.x, x, margin);
  const AxisRange y_extent = Scale::extent(chart.y, y, 0.06);
  const std::vector<Tick> y_ticks = Scale(chart.y, y_extent, 0, 1).ticks(6);
  put_paragraph(to, "quiet", tick_font, chart.y.name, 1);
  const double top = to.y + 8 + (chart.findings.empty() ? 0 : flag_room);
  const double bottom = top + std::round(plot_part * to.width);
  const double left = std::min(std::max(widest_label(y_ticks), 24.0) + 8, to.width / 3);
  double right = to.width - 16;
  const std::vector<Tick> x_ticks = ticks_along(chart.x, x_extent, right - left);
  right = std::min(right, to.width - widest_label(x_ticks) / 2 - 2);
  const PlotFrame frame = {Scale(chart.x, x_extent, left, right), Scale(chart.y, y_extent, bottom, top)};
  std::string grid;
  for (const Tick& tick : y_ticks) {
    const double place = frame.y.place(tick.value);
    grid += fmt::format("M{} {}H{}", coordinate(left), coordinate(place), coordinate(right));
    put_text(to, left - 8, place + 4.5, "tick", tick.label, "end");
  }
  std::string ticks;
  for (const Tick& tick : x_ticks) {
    const double place = frame.x.place(tick.value);
    ticks += fmt::format("M{} {}v5", coordinate(place), coordinate(bottom));
    put_text(to, place, bottom + 19, "tick", tick.label, "middle");
  }
  to.out += fmt::format("<path class=\"grid\" d=\"{}\"/>\n<path class=\"axis\" d=\"M{} {}V{}H{}{}\"/>\n", grid,
                        coordinate(left), coordinate(top), coordinate(bottom), coordinate(right), ticks);
  put_text(to, (left + right) / 2, bottom + 37, "quiet", shortened(chart.x.name, (right - left) / tick_font), "middle");
  if (y.empty()) {
    const bool log = chart.y.scale == ScaleKind::logarithmic;
    put_text(to, (left + right) / 2, (top + bottom) / 2, "quiet", log ? "no positive number" : "no finite number",
             "middle");
  }
  put_findings(to, chart, frame.x, top, bottom);
  to.y = bottom + 46;
  return frame;
}

}  // namespace smd::tool
