// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "options.hpp"

#include <string>
#include <vector>

namespace smd::tool::reduce {

/// Pools the rows of shards and shows them, in the order that reducing the whole would give. The reductions, and what
/// rows are grouped by, are taken from the first row. Returns whether there was a row.
/// @throws UsageError if shards do not belong together, or were made with options whose results cannot be pooled.
bool merge_shards(const std::vector<std::string>& files, OutputFile& out, const ReduceCommandOptions& options,
                  Diagnostics& messages);

}  // namespace smd::tool::reduce
