// SPDX-License-Identifier: Apache-2.0
#include "draw/svg.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using smd::tool::Chart;
using smd::tool::chart_table;
using smd::tool::ChartTable;
using smd::tool::CurveSet;
using smd::tool::HeatMap;
using smd::tool::table_text;

using Texts = std::vector<std::string>;

TEST_CASE("a curve in numbers that read back equal") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Chart chart = {
      .title = "t",
      .x = {.name = "step"},
      .content = CurveSet{{{.name = "loss", .points = {{0, 2.5}, {10, nan}, {20, 0.1}, {30, -inf}}, .gaps = {2}}}}};
  const ChartTable table = chart_table(chart);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0] == Texts{"loss", "4", "0", "2.5", "30", "-inf", "20", "0.1", "0", "2.5", "1 NaN, 1 -inf", "1"});
  CHECK(table.header.size() == table.rows[0].size());
  CHECK(table_text(table, 1) ==
        "curve loss, points 4, first step 0, first 2.5, last step 30, last -inf, least step 20, least 0.1, greatest "
        "step 0, greatest 2.5, not finite 1 NaN, 1 -inf, gaps 1.");
  CHECK(table_text(table, 0) == " And 1 more.");
}

TEST_CASE("a heat map: where most elements of a step are") {
  const Chart chart = {.title = "t", .x = {.name = "step"}, .content = HeatMap{{{7, {0, 1, 3}, {2, 5}}}}};
  CHECK(chart_table(chart).rows == std::vector<Texts>{{"7", "7", "2", "0", "3", "5", "1", "3"}});
}
