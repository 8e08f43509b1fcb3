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

void put_paragraph(Drawing& to, std::string_view classes, double font_size, std::string_view text, std::size_t most) {
  const std::vector<std::string> lines = text_lines(text, to.width / font_size, most);
  to.out += "<g>";
  const std::string whole = displayable(text);
  if (std::any_of(lines.begin(), lines.end(), [](const std::string& line) { return line.find("…") != line.npos; })) {
    to.out += fmt::format("<title>{}</title>\n", xml(whole));
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

}  // namespace smd::tool
