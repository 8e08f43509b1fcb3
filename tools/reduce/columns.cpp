// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

#include "rows/curves.hpp"
#include "rows/date.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

namespace smd::tool::reduce {

std::vector<Column> group_columns(By by) {
  std::vector<Column> columns;
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

bool is_row_column(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 15> names = {"trial",     "trials", "tensor",  "step",       "mode",
                                                      "mode_step", "worker", "row",     "source",     "partial",
                                                      "wall_time", "time",   "elapsed", "superseded", "written"};
  return std::find(names.begin(), names.end(), name) != names.end();
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
  for (const char* const name : {"bin", "lo", "hi", "count"}) {
    columns.push_back({name, Align::right, true, false});
  }
  columns.push_back({"edges", Align::left, false, true});
  columns.push_back({"counts", Align::left, false, true});
  columns.push_back(written_column);
  return columns;
}

std::vector<ColumnTable> column_tables() {
  std::vector<Column> statistics = group_columns({.row = true});
  statistics.push_back({"source"});
  for (const Column& column : last_columns(Superseded::left_out)) {
    statistics.push_back(column);
  }
  ColumnTable table =
      column_table("", statistics,
                   "each reduction by its name, with --smooth also NAME_smooth; with --across trials in "
                   "place of trial; with --shard also count, partial");
  const std::span<const std::string_view> reductions = offered_reductions();
  table.offered.insert(table.offered.end(), reductions.begin(), reductions.end());
  std::vector<Column> pivot = group_columns({.tensor = false});
  pivot.push_back(written_column);
  return {std::move(table), column_table("--hist", hist_columns({})),
          column_table("--pivot", pivot, "each tensor by its name"), column_table("--spark", curve_columns())};
}

}  // namespace smd::tool::reduce
