// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

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
  return columns;
}

std::vector<Column> hist_columns(By by) {
  std::vector<Column> columns = group_columns(by);
  for (const char* const name : {"bin", "lo", "hi", "count"}) {
    columns.push_back({name, Align::right, true, false});
  }
  columns.push_back({"edges", Align::left, false, true});
  columns.push_back({"counts", Align::left, false, true});
  return columns;
}

std::vector<ColumnTable> column_tables() {
  std::vector<Column> figures = group_columns({});
  figures.push_back({"source"});
  return {column_table("", figures, "each reduction by its name; with --shard also count, partial"),
          column_table("--hist", hist_columns({})),
          column_table("--pivot", group_columns({.tensor = false}), "each tensor by its name")};
}

}  // namespace smd::tool::reduce
