// SPDX-License-Identifier: Apache-2.0
#include "rows/table_layout.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace smd::tool;  // NOLINT: a test of most of the header

namespace {

TableLayout layout_of(const std::vector<Column>& columns, bool header = true) {
  return {columns, header, false, false};
}

std::vector<TableRow> rows_of(const std::vector<std::vector<std::string>>& cells) {
  return mapped(cells, [](const std::vector<std::string>& row) { return TableRow{row, {}, {}}; });
}

const std::vector<Column> usual = {{"tensor"}, {"step", Align::right}, {"mode"}, {"worker"}, {"mean", Align::right}};

}  // namespace

TEST_CASE("a table that fits is whole") {
  TableLayout layout = layout_of(usual);
  const auto rows = rows_of({{"w", "0", "TRAIN", "worker_0", "0.5"}, {"w", "10", "TRAIN", "worker_0", "0.25"}});
  layout.make(rows, 37, false);  // 6 + 4 + 5 + 8 + 4, and four gaps of 2: 35
  CHECK(layout.same_in_all().empty());
  CHECK(layout.header() == "tensor  step  mode   worker    mean");
  CHECK(layout.line(rows[0]) == "w          0  TRAIN  worker_0   0.5\n");
  CHECK(layout.line(rows[1]) == "w         10  TRAIN  worker_0  0.25\n");
}

TEST_CASE("a column for exceptions is shown if a row has a value, and a later one is said below") {
  TableLayout layout = layout_of({{"tensor"}, {.name = "shape_a", .if_any = true}, {"state"}});
  const auto rows = rows_of({{"w", "NA", "equal"}, {"b", "NA", "differs"}, {"c", "2x3", "shape"}});
  layout.make(std::span(rows).first(2), 10, false);  // too narrow
  CHECK(layout.same_in_all().empty());
  CHECK(layout.header() == "tensor  state");
  CHECK(layout.line(rows[1]) == "b       differs\n");
  CHECK(layout.below().empty());
  CHECK(layout.line(rows[2]) == "c       shape\n");
  CHECK(layout.below() == "but in later rows: shape_a 2x3\n");
  layout.make(rows, std::nullopt, false);
  CHECK(layout.header() == "tensor  shape_a  state");
  CHECK(layout.line(rows[0]) == "w       NA       equal\n");
}

TEST_CASE("a table that is still too wide loses columns from the right, and says which") {
  std::vector<Column> columns = usual;
  columns.push_back({"std", Align::right});
  columns.push_back({.name = "l2", .align = Align::right, .asked = true});
  TableLayout layout = layout_of(columns);
  const auto rows =
      rows_of({{"w", "0", "TRAIN", "worker_0", "0.5", "1", "2"}, {"b", "0", "EVAL", "worker_0", "1", "3", "4"}});
  layout.make(rows, 20, true);  // worker and step are the same; tensor, mode and l2 take 6 + 5 + 2, and two gaps of 2
  CHECK(layout.same_in_all() == "all rows: step 0,\nworker worker_0\n");
  CHECK(layout.header() == "tensor  mode   l2");
  CHECK(layout.line(rows[0]) == "w       TRAIN   2\n");
  CHECK(layout.below() == "2 more columns: …; --columns all\n");
  layout.make(rows, 33, true);
  CHECK(layout.header() == "tensor  mode   mean  std  l2");
  CHECK(layout.below().empty());
}

TEST_CASE("a table too wide says once what is the same in all rows") {
  TableLayout layout = layout_of(usual);
  const auto rows = rows_of({{"w", "0", "TRAIN", "worker_0", "0.5"}, {"b", "10", "TRAIN", "worker_0", "0.123456789"}});
  layout.make(rows, 41, false);  // one column less than it takes
  CHECK(layout.same_in_all() == "all rows: mode TRAIN, worker worker_0\n");
  CHECK(layout.header() == "tensor  step         mean");
  CHECK(layout.line(rows[1]) == "b         10  0.123456789\n");
  SUBCASE("with no terminal it does not") {
    layout.make(rows, std::nullopt, false);
    CHECK(layout.same_in_all().empty());
  }
  SUBCASE("the line above fits too, where it can") {
    layout.make(rows, 20, false);
    CHECK(layout.same_in_all() == "all rows: mode TRAIN,\nworker worker_0\n");
  }
  SUBCASE("with the comma that ends it") {
    const auto at_one_step = rows_of({{"w", "0", "TRAIN", "worker_0", "0.5"}, {"b", "0", "TRAIN", "worker_0", "0.25"}});
    layout.make(at_one_step, 28, false);  // as wide as "all rows: step 0, mode TRAIN"
    CHECK(layout.same_in_all() == "all rows: step 0,\nmode TRAIN, worker worker_0\n");
    layout.make(at_one_step, 29, false);
    CHECK(layout.same_in_all() == "all rows: step 0, mode TRAIN,\nworker worker_0\n");
  }
}

TEST_CASE("what was asked for stays") {
  std::vector<Column> columns = usual;
  columns[3].asked = true;
  TableLayout layout = layout_of(columns);
  const auto rows = rows_of({{"w", "0", "TRAIN", "worker_0", "0.5"}, {"w", "10", "TRAIN", "worker_0", "0.25"}});
  layout.make(rows, 34, false);
  CHECK(layout.same_in_all() == "all rows: tensor w, mode TRAIN\n");
  CHECK(layout.header() == "step  worker    mean");
}

TEST_CASE("one row alone keeps its name and its numbers; equal rows keep a column") {
  TableLayout one = layout_of(usual);
  one.make(rows_of({{"w", "0", "TRAIN", "worker_0", "0.5"}}), 20, false);
  CHECK(one.header() == "tensor  step  mean");
  TableLayout equal = layout_of({{"a"}, {"b"}});
  equal.make(rows_of({{"long text", "x"}, {"long text", "x"}}), 5, false);
  CHECK(equal.header() == "b");
}

TEST_CASE("a later row that differs is said below the table") {
  TableLayout layout = layout_of(usual);
  const auto rows = rows_of({{"w", "0", "TRAIN", "worker_0", "0.5"}, {"b", "0", "TRAIN", "worker_0", "0.25"}});
  layout.make(rows, 20, false);
  const auto later = rows_of({{"w", "1", "EVAL", "worker_0", "1"}, {"b", "2", "EVAL", "worker_1", "2"}});
  CHECK(layout.line(rows[1]) == "b       0.25\n");
  CHECK(layout.below().empty());
  CHECK(layout.line(later[0]) == "w          1\n");
  CHECK(layout.line(later[1]) == "b          2\n");
  CHECK(layout.below() == "but in later rows: step 1 2,\nmode EVAL,\nworker worker_1\n");
}

TEST_CASE("a cell that is not finite is coloured, and aligned as it would be without") {
  const std::vector<Column> columns = {{"a", Align::right}, {"b"}};
  TableLayout layout(columns, true, false, true);
  std::vector<TableRow> rows = rows_of({{"12345", "x"}, {"nan", "y"}});
  rows[1].coloured = {0};
  layout.make(rows, std::nullopt, false);
  CHECK(layout.line(rows[1]) == "  \x1b[31mnan\x1b[0m  y\n");
}

TEST_CASE("a later cell that does not fit shifts only its own row, and no more than it must") {
  TableLayout layout = layout_of({{"a", Align::right}, {"b"}, {"c", Align::right}});
  const auto rows = rows_of({{"1", "xxxxxx", "1"}, {"12345", "x", "2"}, {"12", "xxxxxx", "3"}});
  layout.make(std::span(rows).first(1), std::nullopt, false);
  CHECK(layout.line(rows[0]) == "1  xxxxxx  1\n");
  CHECK(layout.line(rows[1]) == "12345  x   2\n");  // b begins 4 further right, c stands where it stood
  CHECK(layout.line(rows[2]) == "12  xxxxxx  3\n");
}

TEST_CASE("prose is broken into lines before columns go, and goes last") {
  TableLayout layout = layout_of({{"rule"}, {"alias"}, {"frameworks"}, {.name = "summary", .prose = true}});
  const auto rows = rows_of({{"DeadRelu", "dead_relu", "deep", "most nodes are never above zero at all"},
                             {"Overfit", "overfit", "all", "short"}});
  layout.make(rows, 57, true);  // 8, 9 and 10 columns, 24 for prose, and three gaps of 2
  CHECK(layout.header() == "rule      alias      frameworks  summary");
  CHECK(layout.line(rows[0]) ==
        "DeadRelu  dead_relu  deep        most nodes are never\n"
        "                                 above zero at all\n");
  CHECK(layout.line(rows[1]) == "Overfit   overfit    all         short\n");
  layout.make(rows, 56, true);  // 35 for prose
  CHECK(layout.line(rows[0]) ==
        "DeadRelu  dead_relu  most nodes are never above zero at\n"
        "                     all\n");
  CHECK(layout.below() == "1 more column: frameworks; --columns all\n");
  layout.make(rows, 34, true);
  CHECK(layout.header() == "rule      summary");
  layout.make(rows, 33, true);
  CHECK(layout.header() == "rule");
  CHECK(layout.below() == "3 more columns: …; --columns all\n");
  layout.make(rows, 71, true);
  CHECK(layout.line(rows[0]) == "DeadRelu  dead_relu  deep        most nodes are never above zero at all\n");
  for (const auto width : {std::optional<std::size_t>(71), std::optional<std::size_t>()}) {  // from a shorter row alone
    layout.make(std::span(rows).subspan(1), width, width.has_value());
    CHECK(layout.line(rows[0]) == "DeadRelu  dead_relu  deep     most nodes are never above zero at all\n");
  }
}

TEST_CASE("the first column that is shown never goes") {
  TableLayout layout = layout_of({{"rule"}, {"parameter"}, {"type"}, {.name = "help", .prose = true}});
  const auto rows =
      rows_of({{"AllZero", "tensor_regex", "List", "tensors to look at"}, {"AllZero", "p", "Float", "x"}});
  layout.make(rows, 20, true);
  CHECK(layout.same_in_all() == "all rows: rule AllZero\n");
  CHECK(layout.header() == "parameter");
  CHECK(layout.line(rows[0]) == "tensor_regex\n");
}

TEST_CASE("what was measured beside a curve stays as long as there is room") {
  TableLayout layout = layout_of({{.name = "tensor", .asked = true},
                                  {.name = "curve", .curve = true},
                                  {.name = "last", .align = Align::right, .asked = true},
                                  {.name = "max", .align = Align::right, .measured = true}});
  std::vector<TableRow> rows = rows_of({{"gradient/decoder/bias", "", "1", "7"}, {"b", "", "2", "7"}});
  rows[0].curve = {1};
  rows[1].curve = {2};
  layout.make(rows, 44, true);  // 21, 10, 4 and 3 columns, and three gaps of 2
  CHECK(layout.header() == "tensor                 curve       last  max");
  layout.make(rows, 43, true);
  CHECK(layout.header() == "tensor                 curve           last");
  CHECK(layout.below() == "1 more column: max; --columns all\n");
}

TEST_CASE("curves of one table are of the same length and fill the line") {
  TableLayout layout = layout_of({{.name = "tensor", .asked = true},
                                  {"mode"},
                                  {.name = "curve", .curve = true},
                                  {.name = "last", .align = Align::right, .asked = true}});
  std::vector<TableRow> rows = rows_of({{"loss", "EVAL", "", "3"}, {"accuracy", "EVAL", "", "0.25"}});
  rows[0].curve = {1, 2, 3};
  rows[1].curve = std::vector<double>(1000, 0.25);
  layout.make(rows, 30, false);  // 8 and 4 and two gaps: 14 columns are left
  CHECK(layout.same_in_all() == "all rows: mode EVAL\n");
  for (const TableRow& row : rows) {
    CHECK(display_width(layout.line(row)) == 30 + 1);  // with the line's end
  }
  layout.make(rows, 12, false);  // no room: as short as a curve may be
  CHECK(display_width(layout.line(rows[1])) == 8 + 2 + 10 + 2 + 4 + 1);
}
