// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "options.hpp"

#include <string>
#include <vector>

namespace smd::tool::rule {

/// Reports the results in files of JSON lines as if one run had evaluated all trials: parts of one whole in the order
/// of their trials, other results as they are given. The status is that of the whole. Lines that are no results, parts
/// that were cut off and missing parts are reported; the others count.
/// Files are read twice, a line at a time.
/// @throws UsageError if parts do not belong together.
void merge_results(const std::vector<std::string>& files, const RuleCommandOptions& options, Diagnostics& messages);

}  // namespace smd::tool::rule
