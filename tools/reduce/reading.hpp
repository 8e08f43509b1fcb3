// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "result_view.hpp"
#include "session.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// Adds the names of the reductions that were saved in the selection. Buckets are for --hist: they are no number.
void collect_saved(const Session& session, const ReduceCommandOptions& options, std::set<std::string>& names);

/// Reduces what is selected of a trial, in parallel and piece by piece, and shows rows in the documented order. Records
/// are pooled in the same order for any number of threads. Reports once what is unavailable. Several trials: pooled.
ReduceOutcome reduce_trials(std::span<const Session* const> sessions, const ReduceCommandOptions& options,
                            const std::vector<Wanted>& wanted, ResultView& view, Diagnostics& messages);

}  // namespace smd::tool::reduce
