// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/evaluator.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool::rule {

/// The columns of --explain.
[[nodiscard]] std::span<const Column> explain_columns() noexcept;

/// Prints what the rules would read: a row for each rule, tensor and kind of reading, with the steps it is read at. A
/// rule that would read nothing is a row too, and a warning.
void explain(Evaluator& evaluator, std::string_view trial, RowWriter& rows, Diagnostics& messages);

}  // namespace smd::tool::rule
