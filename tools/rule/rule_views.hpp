// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/evaluator.hpp>

#include <span>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "requests/requests.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool::rule {

/// The columns of --explain.
[[nodiscard]] std::span<const Column> explain_columns() noexcept;

/// Prints what the rules would read: a row for each rule, tensor and kind of reading, with the steps it is read at. A
/// rule that would read nothing is a row too, and a warning.
void explain(Evaluator& evaluator, std::string_view trial, RowWriter& rows, Diagnostics& messages);

/// For `CommandDefinition::columns`.
[[nodiscard]] std::vector<ColumnTable> column_tables();

/// --list.
void list_rules(const RuleCommandOptions& options, Diagnostics& messages);
/// --describe: text for people, or the parameters as rows if a format was asked for. @throws ConfigurationError.
void describe(const RuleCommandOptions& options, Diagnostics& messages);
/// --hook-config: of the valid requests, if there are any. @throws ConfigurationError as `hook_config_for`.
void hook_config(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options);
/// --check-config.
void check_config(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options, Diagnostics& messages);

}  // namespace smd::tool::rule
