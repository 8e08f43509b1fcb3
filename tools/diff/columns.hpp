// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "rows/row_writer.hpp"
#include "select/by.hpp"

namespace smd::tool::diff {

/// The columns of rows about values, or about pools of them.
[[nodiscard]] std::vector<Column> row_columns(By by);

/// The columns of --summary.
[[nodiscard]] std::vector<Column> summary_columns();

/// For `CommandDefinition::columns`.
[[nodiscard]] std::vector<ColumnTable> column_tables();

}  // namespace smd::tool::diff
