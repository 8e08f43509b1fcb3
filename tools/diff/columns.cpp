// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

namespace smd::tool::diff {

std::vector<Column> row_columns(By by) {
  std::vector<Column> columns;
  const auto add = [&](std::string_view name, Align align, bool in_table) {
    Column column{name, align};
    column.in_table = in_table;
    columns.push_back(column);
  };
  if (by.tensor) {
    add("tensor", Align::left, true);
  }
  if (by.step) {
    add("step", Align::right, true);
    add("step_b", Align::right, false);
  }
  if (by.worker) {
    add("worker", Align::left, false);
  }
  add("state", Align::left, true);
  for (const char* const name :
       {"size", "differing", "max_abs", "max_rel", "mean_abs", "rmse", "l2_a", "l2_b", "l2_diff", "rel_l2", "cosine"}) {
    const std::string_view of = name;
    add(name, Align::right, of == "differing" || of == "max_abs" || of == "rel_l2" || of == "cosine");
  }
  add("first", Align::left, false);
  if (by == By()) {
    for (const char* const name : {"shape_a", "shape_b", "dtype_a", "dtype_b"}) {
      add(name, Align::left, true);
      columns.back().if_any = true;
    }
  }
  return columns;
}

std::vector<Column> summary_columns() {
  std::vector<Column> columns;
  for (const char* const name :
       {"tensors", "equal", "differing", "only_a", "only_b", "first_step", "max_abs", "dtype", "shape"}) {
    columns.push_back({name, Align::right});
  }
  return columns;
}

std::vector<ColumnTable> column_tables() {
  return {column_table("", row_columns({})), column_table("--summary", summary_columns())};
}

}  // namespace smd::tool::diff
