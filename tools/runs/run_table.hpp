// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "options.hpp"
#include "rows/row_writer.hpp"
#include "run_facts.hpp"

namespace smd::tool::runs {

/// Prints runs as one table: which scalars and hyperparameters have columns depends on all of them. Reports names asked
/// for that no run has.
/// @throws UsageError for columns that there are not.
void print_runs(const std::vector<RunFacts>& runs, const RunsOptions& options, OutputFile& out, Diagnostics& messages);

/// The columns that every table of runs may have.
[[nodiscard]] std::vector<Column> fixed_columns();

}  // namespace smd::tool::runs
