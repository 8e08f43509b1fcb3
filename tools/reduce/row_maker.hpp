// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "cli/diagnostics.hpp"
#include "result_view.hpp"
#include "session.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// Reduces what is selected of a trial, in parallel and piece by piece, and shows rows in the documented order. Records
/// are pooled in the same order for any number of threads. Reports once what is unavailable. Several trials: pooled.
ReduceOutcome reduce_trials(std::span<const Session* const> sessions, const std::vector<Wanted>& wanted,
                            ResultView& view, Diagnostics& messages);

}  // namespace smd::tool::reduce
