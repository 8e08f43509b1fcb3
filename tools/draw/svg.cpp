// SPDX-License-Identifier: Apache-2.0
#include "draw/svg.hpp"

#include "cli/escape.hpp"
#include "draw/drawing.hpp"
#include "page_text.hpp"

#include <fmt/format.h>

namespace smd::tool {

namespace {

constexpr double document_border = 12;
constexpr double element_border = 2;  // a page has margins of its own
constexpr double title_font = 15;
constexpr double subtitle_font = 13;
constexpr std::size_t rows_in_words = 20;
constexpr std::size_t rows_of_element = 5;  // the page has a table too

std::string words(const Chart& chart, std::size_t most) {
  std::string text = chart.subtitle;
  text += text.empty() ? "" : ". ";
  for (std::size_t i = 0; i < chart.findings.size() && i < most; ++i) {
    text += chart.findings[i].text + ". ";
  }
  return text + table_text(chart_table(chart), most);
}

void draw_chart(Drawing& to, const Chart& chart) {
  put_paragraph(to, "title", title_font, chart.title, 3);
  if (!chart.subtitle.empty()) {
    put_paragraph(to, "quiet", subtitle_font, chart.subtitle, 3);
  }
  to.y += 6;
  std::visit([&](const auto& content) { draw_content(to, chart, content); }, chart.content);
}

std::string title_and_description(const Chart& chart, std::size_t most) {
  return fmt::format("<title>{}</title>\n<desc>{}</desc>\n", xml(chart.title), xml(words(chart, most)));
}

// The element around a drawing. `before` precedes the drawing.
std::string element(const Drawing& drawing, double border, std::string_view attributes, std::string_view before) {
  const std::string width = coordinate(drawing.width + 2 * border);
  const std::string height = coordinate(drawing.y + 2 * border);
  return fmt::format(
      "<svg class=\"chart\" {}viewBox=\"0 0 {} {}\">\n{}<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n"
      "<g transform=\"translate({},{})\">\n{}</g>\n</svg>\n",
      attributes, width, height, before, width, height, border, border, drawing.out);
}

}  // namespace

std::string svg_element(const Chart& chart) {
  Drawing drawing = {.width = element_width - 2 * element_border};
  draw_chart(drawing, chart);
  return element(drawing, element_border, R"(role="img" )", title_and_description(chart, rows_of_element));
}

std::string svg_document(std::span<const Chart> charts, std::string_view title) {
  constexpr double enlarged = 1.2;  // where there is room for it
  Drawing drawing = {.width = chart_width - 2 * document_border};
  if (!title.empty()) {
    put_paragraph(drawing, "title", title_font, title, 3);
    drawing.y += 10;
  }
  for (std::size_t i = 0; i < charts.size(); ++i) {
    drawing.y += i == 0 ? 0 : 18;
    drawing.out += fmt::format(R"(<g class="panel" role="img">{})", title_and_description(charts[i], rows_in_words));
    draw_chart(drawing, charts[i]);
    drawing.out += "</g>\n";
  }
  const std::string attributes =
      fmt::format(R"(xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" )", coordinate(chart_width * enlarged),
                  coordinate((drawing.y + 2 * document_border) * enlarged));
  const std::string before = fmt::format(
      "<title>{}</title>\n<style>\n:root{{color-scheme:light dark;max-width:100%;height:auto}}\n{}</style>\n",
      xml(title.empty() ? std::string_view(charts.front().title) : title), page_text::chart_css);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + element(drawing, document_border, attributes, before);
}

}  // namespace smd::tool
