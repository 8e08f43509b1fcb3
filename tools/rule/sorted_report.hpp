// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "report.hpp"
#include "rows/output_options.hpp"

namespace smd::tool::rule {

/// Sorts the records of another report, and leaves out those for which --where does not hold: holds them until the end,
/// with --limit no more than that many. `options` must outlive it.
/// @throws UsageError for a column that records do not have.
std::unique_ptr<Report> make_sorted_report(std::unique_ptr<Report> report, const OutputOptions& options);

}  // namespace smd::tool::rule
