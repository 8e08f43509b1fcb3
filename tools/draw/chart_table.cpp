// SPDX-License-Identifier: Apache-2.0
#include "draw/svg.hpp"

#include "cli/mapped.hpp"
#include "cli/number_format.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace smd::tool {

namespace {

std::string exact(double number) {
  constexpr double whole_below = 1e15;
  return number == std::floor(number) && std::abs(number) < whole_below && !std::signbit(number)
             ? std::to_string(static_cast<std::int64_t>(number))
             : number_text(number);
}

CurveFacts curve_facts(const ChartCurve& curve) {
  CurveFacts facts;
  for (const ChartPoint& point : curve.points) {
    facts.add(point);
  }
  facts.counts = curve.counts.value_or(facts.counts);
  return facts;
}

std::vector<std::string> curve_row(const ChartCurve& curve) {
  const CurveFacts facts = curve_facts(curve);
  std::vector<std::string> row = {curve.name, std::to_string(facts.counts.points)};
  const auto add = [&row](const std::optional<ChartPoint>& point) {
    row.push_back(point ? exact(point->x) : "");
    row.push_back(point ? exact(point->y) : "");
  };
  add(curve.points.empty() ? std::nullopt : std::optional(facts.first));
  add(curve.points.empty() ? std::nullopt : std::optional(facts.last));
  add(facts.least);
  add(facts.greatest);
  row.push_back(not_finite_text(curve));
  row.push_back(curve.gaps.empty() ? "" : std::to_string(curve.gaps.size()));
  return row;
}

ChartTable table_of(const CurveSet& set, const Chart& chart) {
  const std::string& x = chart.x.name;
  return {.header = {"curve", "points", "first " + x, "first", "last " + x, "last", "least " + x, "least",
                     "greatest " + x, "greatest", "not finite", "gaps"},
          .rows = mapped(set.curves, curve_row)};
}

ChartTable table_of(const HeatMap& map, const Chart& chart) {
  ChartTable table = {.header = {chart.x.name, "elements", "bins", "from", "to", "most elements", "between", "and"}};
  for (const HeatColumn& column : map.columns) {
    const auto most = std::ranges::max_element(column.counts);
    const auto bin = static_cast<std::size_t>(most - column.counts.begin());
    table.rows.push_back({exact(column.x), exact(std::accumulate(column.counts.begin(), column.counts.end(), 0.0)),
                          std::to_string(column.counts.size()), exact(column.edges.front()), exact(column.edges.back()),
                          exact(*most), exact(column.edges[bin]), exact(column.edges[bin + 1])});
  }
  return table;
}

ChartTable table_of(const BarSet& bars, const Chart& chart) {
  ChartTable table = {.header = {"from", "to", chart.y.name}};
  for (std::size_t bin = 0; bin < bars.counts.size(); ++bin) {
    table.rows.push_back({exact(bars.edges[bin]), exact(bars.edges[bin + 1]), exact(bars.counts[bin])});
  }
  return table;
}

ChartTable table_of(const ImageGrid& grid, const Chart&) {
  const auto row = [](const ImageTile& tile) -> std::vector<std::string> {
    AxisRange extent;
    extent.add_finite(tile.numbers);
    return {tile.caption, std::to_string(tile.rows), std::to_string(tile.columns),
            extent.empty() ? "" : exact(extent.low), extent.empty() ? "" : exact(extent.high)};
  };
  return {.header = {"image", "rows", "columns", "least", "greatest"}, .rows = mapped(grid.tiles, row)};
}

}  // namespace

std::string not_finite_text(const ChartCurve& curve) {
  const PointCounts counts = curve_facts(curve).counts;
  std::string text;
  for (const auto& [count, what] :
       {std::pair(counts.nan, "NaN"), std::pair(counts.plus, "inf"), std::pair(counts.minus, "-inf")}) {
    append_part(text, count != 0 ? fmt::format("{} {}", count, what) : "");
  }
  return text;
}

ChartTable chart_table(const Chart& chart) {
  return std::visit([&chart](const auto& content) { return table_of(content, chart); }, chart.content);
}

std::string table_text(const ChartTable& table, std::size_t most) {
  std::string text;
  for (std::size_t row = 0; row < table.rows.size() && row < most; ++row) {
    std::string sentence;
    for (std::size_t column = 0; column < table.header.size(); ++column) {
      if (const std::string& cell = table.rows[row][column]; !cell.empty()) {
        append_part(sentence, table.header[column] + " " + cell);
      }
    }
    append_part(text, sentence + ".", " ");
  }
  if (table.rows.size() > most) {
    text += fmt::format(" And {} more.", table.rows.size() - most);
  }
  return text;
}

}  // namespace smd::tool
