// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

namespace smd::tool::diff {

std::vector<Column> row_columns(By by) {
  std::vector<Column> columns;
  if (by.tensor) {
    columns.push_back({"tensor"});
  }
  if (by.step) {
    columns.push_back({"step", Align::right});
    columns.push_back({"step_b", Align::right});
  }
  if (by.worker) {
    columns.push_back({"worker"});
  }
  columns.push_back({"state"});
  for (const char* const name :
       {"size", "differing", "max_abs", "max_rel", "mean_abs", "rmse", "l2_a", "l2_b", "l2_diff", "rel_l2", "cosine"}) {
    columns.push_back({name, Align::right});
  }
  columns.push_back({"first"});
  return columns;
}

std::vector<Column> summary_columns() {
  std::vector<Column> columns;
  for (const char* const name : {"tensors", "equal", "differing", "only_a", "only_b", "first_step", "max_abs"}) {
    columns.push_back({name, Align::right});
  }
  return columns;
}

std::vector<ColumnTable> column_tables() {
  return {column_table("", row_columns({})), column_table("--summary", summary_columns())};
}

}  // namespace smd::tool::diff
