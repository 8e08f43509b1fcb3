// SPDX-License-Identifier: Apache-2.0
#include "draw/drawing.hpp"

#include "cli/escape.hpp"
#include "draw/palette.hpp"
#include "draw/text_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smd::tool {

namespace {

constexpr double line_height = 1.35;  // of the size of a font
constexpr double legend_line = 18;
constexpr double legend_sign = 32;  // with the room beside it

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
    if (widest_label(ticks) + 14 <= length / static_cast<double>(std::max<std::size_t>(ticks.size(), 1))) {
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

std::string coordinate(double number) { return fmt::format("{}", std::round(number * 100) / 100 + 0.0); }

void put_text(Drawing& to, double x, double y, std::string_view classes, std::string_view text,
              std::string_view anchor) {
  to.out += fmt::format(R"(<text x="{}" y="{}")", coordinate(x), coordinate(y));
  if (!classes.empty()) {
    to.out += fmt::format(R"( class="{}")", classes);
  }
  if (anchor != "start") {
    to.out += fmt::format(R"( text-anchor="{}")", anchor);
  }
  to.out += fmt::format(">{}</text>\n", xml(text));
}

void put_image(Drawing& to, double x, double y, double width, double height, std::string_view png,
               std::string_view inside) {
  to.out += fmt::format(
      "<image class=\"image\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
      "href=\"data:image/png;base64,{}\"{}\n",
      coordinate(x), coordinate(y), coordinate(width), coordinate(height), png,
      inside.empty() ? std::string("/>") : fmt::format(">{}</image>", inside));
}

void put_paragraph(Drawing& to, std::string_view classes, double font_size, std::string_view text, std::size_t most) {
  const std::vector<std::string> lines = text_lines(text, to.width / font_size, most);
  to.out += "<g>";
  if (std::ranges::any_of(lines, [](const std::string& line) { return line.find("…") != line.npos; })) {
    to.out += fmt::format("<title>{}</title>\n", xml(displayable(text)));
  }
  for (const std::string& line : lines) {
    to.y += font_size * line_height;
    put_text(to, 0, to.y - font_size * (line_height - 1), classes, line);
  }
  to.out += "</g>\n";
}

void put_legend(Drawing& to, std::span<const LegendEntry> entries) {
  constexpr double font_size = 13;
  double widest = 0;
  for (const LegendEntry& entry : entries) {
    widest = std::max(widest, text_width(displayable(entry.name)) * font_size + legend_sign + 14);
  }
  const auto fitting = static_cast<std::size_t>(std::max(1.0, std::floor((to.width + 14) / std::max(widest, 1.0))));
  const std::size_t columns = std::clamp<std::size_t>(entries.size(), 1, fitting);
  const std::size_t rows = (entries.size() + columns - 1) / columns;
  const double apart = to.width / static_cast<double>(columns);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t column = i / rows;
    const double x = apart * static_cast<double>(column);
    const double y = to.y + legend_line * static_cast<double>(i % rows);
    const std::string name = shortened(entries[i].name, (apart - legend_sign) / font_size);
    to.out +=
        fmt::format("<g transform=\"translate({},{})\">{}</g>\n<g>", coordinate(x), coordinate(y + 5), entries[i].sign);
    if (name != entries[i].name) {
      to.out += fmt::format("<title>{}</title>", xml(entries[i].name));
    }
    put_text(to, x + legend_sign, y + 14.5, "", name);
    to.out += "</g>\n";
  }
  to.y += legend_line * static_cast<double>(rows) + 4;
}

void put_shades(Drawing& to, std::string_view low, std::string_view high, std::string_view what) {
  constexpr std::size_t steps = 24;
  constexpr double height = 12;
  const double left = text_width(displayable(low)) * 13 + 6;
  const double width = to.width * 0.28;
  const double step = width / steps;
  put_text(to, left - 6, to.y + 12, "quiet", low, "end");
  for (std::size_t i = 0; i < steps; ++i) {
    const double level = static_cast<double>(i) / (steps - 1);
    to.out += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)",
                          coordinate(left + step * static_cast<double>(i)), coordinate(to.y + 1),
                          coordinate(step + 0.3), height, color_text(shade_of(level)));
  }
  const double after = left + width + 6;
  put_text(to, after, to.y + 12, "quiet", high);
  const double text_left = after + text_width(displayable(high)) * 13 + 12;
  put_text(to, text_left, to.y + 12, "quiet", shortened(what, (to.width - text_left) / 13));
  to.y += 22;
}

// The frame of a plot: grid, ticks, names of the axes, findings.
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
