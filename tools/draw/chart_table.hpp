// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "draw/chart.hpp"

namespace smd::tool {

/// A chart in words and exact numbers, for readers who do not see it; pages hold it behind the chart. Cells may be any
/// bytes, as names are.
struct ChartTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// A row for each curve (points, first, last, least and greatest finite number with their x, and what is not finite),
/// column of a heat map (elements, the fullest bin), bar or image. Numbers read back equal.
[[nodiscard]] ChartTable chart_table(const Chart& chart);

/// `3 NaN, 1 inf`; empty if all are finite.
[[nodiscard]] std::string not_finite_text(const ChartCurve& curve);

/// One sentence for each of the first `most` rows of a table, and how many more there are.
[[nodiscard]] std::string table_text(const ChartTable& table, std::size_t most);

}  // namespace smd::tool
