// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "options.hpp"
#include "requests/requests.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool::rule {

/// For `CommandDefinition::columns`.
[[nodiscard]] std::vector<ColumnTable> column_tables();

/// --list.
void list_rules(const RuleCommandOptions& options, OutputFile& out, Diagnostics& messages);
/// --describe: text for people, or the parameters as rows if a format was asked for. @throws ConfigurationError.
void describe(const RuleCommandOptions& options, OutputFile& out, Diagnostics& messages);
/// --hook-config: of the valid requests, if there are any. @throws ConfigurationError as `hook_config_for`.
void hook_config(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options);
/// --check-config.
void check_config(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options, OutputFile& out,
                  Diagnostics& messages);

}  // namespace smd::tool::rule
