// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "draw/chart.hpp"

namespace smd::tool {

/// The width of charts in SVG's units, of which text is 13 to 15 high: for a document of its own, and for an element of
/// a page, whose text can still be read at 340 pixels, on a phone, and is not too large at 500.
inline constexpr double chart_width = 600;
inline constexpr double element_width = 400;

/// A chart as an `<svg>` element for a page that holds `chart.css`: it fills the width that it is given. Names are
/// text, whatever they hold. No scripts, identifiers, style attributes or outside resources: images are data URLs. For
/// screen readers it has a `title` and a `desc`; `chart_table` has the rest.
[[nodiscard]] std::string svg_element(const Chart& chart);

/// Charts one above another as an SVG document of its own, with their style, below `title` if that is not empty.
/// @pre charts is not empty.
[[nodiscard]] std::string svg_document(std::span<const Chart> charts, std::string_view title);

/// A chart in words and exact numbers, for readers who do not see it; pages hold it behind the chart. Cells may be any
/// bytes, as names are.
struct ChartTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows = {};
};

/// A row for each curve (points, first, last, least and greatest finite number with their x, and what is not finite),
/// column of a heat map (elements, the fullest bin), bar or image. Numbers read back equal.
[[nodiscard]] ChartTable chart_table(const Chart& chart);

/// `3 NaN, 1 inf`; empty if all are finite.
[[nodiscard]] std::string not_finite_text(const ChartCurve& curve);

/// One sentence for each of the first `most` rows of a table, and how many more there are.
[[nodiscard]] std::string table_text(const ChartTable& table, std::size_t most);

}  // namespace smd::tool
