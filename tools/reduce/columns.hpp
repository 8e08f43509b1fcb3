// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "rows/row_writer.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// The columns that identify a row. `across`: how many trials it pools is the first.
[[nodiscard]] std::vector<Column> group_columns(By by, bool across = false);
/// Adds the cells of these columns. They borrow from `row`.
void add_group_cells(std::vector<Cell>& cells, const RowFacts& row, By by, bool across = false);

/// Whether some option gives rows a column of that name that is not a reduction.
[[nodiscard]] bool is_row_column(std::string_view name) noexcept;

/// The columns of a row that follow its statistics.
[[nodiscard]] std::vector<Column> last_columns(Superseded superseded);

/// The columns of --hist.
[[nodiscard]] std::vector<Column> hist_columns(By by);

/// For `CommandDefinition::columns`.
[[nodiscard]] std::vector<ColumnTable> column_tables();

}  // namespace smd::tool::reduce
