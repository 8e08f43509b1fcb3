// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smd::tool::rule {

/// Reports the results in files of JSON lines as if one run had evaluated all trials: parts of one whole in the order
/// of their trials, other results as they are given. The status is that of the whole. Lines that are no results, parts
/// that were cut off and missing parts are reported; the others count.
/// Files are read twice, a line at a time.
/// @throws UsageError if parts do not belong together.
void merge_results(const std::vector<std::string>& files, const RuleCommandOptions& options, Diagnostics& messages);

/// Lines of a file that belong together: a part, or results of no part.
struct ResultLines {
  std::string file;
  std::uint64_t begin = 0;  ///< Bytes of the file, half open.
  std::uint64_t end = 0;
  std::uint64_t records = 0;
  bool foreign = false;  ///< Whether lines that are no results, already reported, are among them.
  std::optional<PartLine> part = {};
};

/// Puts parts in the order of the trials of the whole, and reports what is wrong with them. If there are parts, lines
/// that belong to no part are dropped; without any part, the lines stay as they are.
/// @throws UsageError if parts are of different wholes, or one is given twice.
[[nodiscard]] std::vector<ResultLines> order_parts(std::vector<ResultLines> given, Diagnostics& messages);

}  // namespace smd::tool::rule
