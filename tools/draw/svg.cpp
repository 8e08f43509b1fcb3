// SPDX-License-Identifier: Apache-2.0
#include "draw/svg.hpp"

#include "draw/chart_table.hpp"
#include "draw/drawing.hpp"
#include "draw/palette.hpp"
#include "draw/xml_text.hpp"

#include <fmt/format.h>

namespace smd::tool {

namespace {

constexpr double border = 12;
constexpr double title_font = 17;
constexpr double subtitle_font = 13;
constexpr std::size_t rows_in_words = 20;

std::string words(const Chart& chart) {
  std::string text = chart.subtitle;
  text += text.empty() ? "" : ". ";
  for (std::size_t i = 0; i < chart.findings.size() && i < rows_in_words; ++i) {
    text += chart.findings[i].text + ". ";
  }
  return text + table_text(chart_table(chart), rows_in_words);
}

void draw_chart(Drawing& to, const Chart& chart) {
  put_paragraph(to, "title", title_font, chart.title, 3);
  if (!chart.subtitle.empty()) {
    put_paragraph(to, "quiet", subtitle_font, chart.subtitle, 3);
  }
  to.y += 6;
  std::visit([&](const auto& content) { draw_content(to, chart, content); }, chart.content);
}

// The element around a drawing, which names and describes it first.
std::string element(const Drawing& drawing, const std::string& title, const std::string& description,
                    std::string_view attributes, std::string_view style) {
  const std::string width = coordinate(drawing.width + 2 * border);
  const std::string height = coordinate(drawing.y + 2 * border);
  return fmt::format(
      "<svg class=\"chart\" {}viewBox=\"0 0 {} {}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n{}"
      "<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n<g transform=\"translate({},{})\">\n{}</g>\n</svg>\n",
      attributes, width, height, xml(title), xml(description), style, width, height, border, border, drawing.out);
}

}  // namespace

std::string svg_element(const Chart& chart) {
  Drawing drawing = {.width = chart_width - 2 * border};
  draw_chart(drawing, chart);
  return element(drawing, chart.title, words(chart), "", "");
}

std::string svg_document(std::span<const Chart> charts, std::string_view title) {
  Drawing drawing = {.width = chart_width - 2 * border};
  if (!title.empty()) {
    put_paragraph(drawing, "title", title_font, title, 3);
    drawing.y += 10;
  }
  std::string description;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const Chart& chart = charts[i];
    drawing.y += i == 0 ? 0 : 18;
    drawing.out += "<g role=\"group\">";
    if (charts.size() > 1) {
      drawing.out += fmt::format("<title>{}</title>\n<desc>{}</desc>\n", xml(chart.title), xml(words(chart)));
    } else {
      description = words(chart);
    }
    draw_chart(drawing, chart);
    drawing.out += "</g>\n";
  }
  const std::string style = fmt::format("<style>\n:root{{color-scheme:light dark}}\n{}</style>\n", chart_style());
  const std::string heading = title.empty() ? charts.front().title : std::string(title);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
         element(drawing, heading, description, "xmlns=\"http://www.w3.org/2000/svg\" ", style);
}

}  // namespace smd::tool
