// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

#include "options.hpp"

#include "cli/mapped.hpp"
#include "rows/cell.hpp"
#include "rows/curves.hpp"
#include "rows/histogram_output.hpp"

#include <array>
#include <utility>

namespace smd::tool::reduce {

std::vector<Column> group_columns(By by, bool across) {
  std::vector<Column> columns;
  if (across) {
    columns.push_back({.name = "trials", .align = Align::right, .for_trial = true});
  }
  if (by.tensor) {
    columns.push_back({"tensor"});
  }
  if (by.step) {
    columns.push_back({"step", Align::right});
    columns.push_back({"mode"});
    columns.push_back({"mode_step", Align::right});
  }
  if (by.worker) {
    columns.push_back({"worker"});
  }
  if (by.row) {
    columns.push_back({"row", Align::right});
  }
  return columns;
}

void add_group_cells(std::vector<Cell>& cells, const RowFacts& row, By by, bool across) {
  if (across) {
    cells.emplace_back(row.trials);
  }
  if (by.tensor) {
    cells.emplace_back(row.tensor);
  }
  if (by.step) {
    cells.insert(cells.end(), {row.step.value, to_string(row.mode), row.mode_step.value});
  }
  if (by.worker) {
    cells.emplace_back(row.worker);
  }
  if (by.row) {
    cells.emplace_back(row.row);
  }
}

bool is_row_column(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 15> names = {"trial",     "trials", "tensor",  "step",       "mode",
                                                      "mode_step", "worker", "row",     "source",     "partial",
                                                      "wall_time", "time",   "elapsed", "superseded", "written"};
  return contains(names, name);
}

std::vector<Column> last_columns(Superseded superseded) {
  return {{"wall_time", Align::right, false, false, false, show_date},
          {"time", Align::left, false, false},
          {"elapsed", Align::right, false, false},
          superseded_column(superseded == Superseded::included),
          written_column};
}

std::vector<Column> hist_columns(By by) {
  std::vector<Column> columns = group_columns(by);
  columns.insert(columns.end(), histogram_columns.begin(), histogram_columns.end());
  return columns;
}

std::vector<ColumnTable> column_tables() {
  std::vector<Column> statistics = group_columns({.row = true});
  statistics.push_back({"source"});
  const std::vector<Column> last = last_columns(Superseded::left_out);
  statistics.insert(statistics.end(), last.begin(), last.end());
  ColumnTable table =
      column_table("", statistics,
                   "each reduction by its name, with --smooth also NAME_smooth; with --across trials in "
                   "place of trial; with --shard also count, partial");
  table.offered.insert(table.offered.end(), offered_reductions().begin(), offered_reductions().end());
  std::vector<Column> pivot = group_columns({.tensor = false});
  pivot.push_back(written_column);
  return {std::move(table), column_table("--hist", hist_columns({})),
          column_table("--pivot", pivot, "each tensor by its name"), column_table("--spark", curve_columns())};
}

}  // namespace smd::tool::reduce
