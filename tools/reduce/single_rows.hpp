// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "reduction_list.hpp"
#include "result_view.hpp"
#include "session.hpp"

namespace smd::tool::reduce {

/// As `reduce_trial`, where every row is of one entry: nothing is pooled. Then pieces of a few hundred rows depend on
/// nothing but themselves, and each is made by one thread from the entries to the text.
///
/// A row of one entry is a group of one as well, and the groups of `reading.cpp` give the same rows. This path stays
/// because it takes half the processor time where tensors are small: 0.47 s and 0.94 s for 400,000 rows of six
/// reductions (500 steps x 8 workers x 100 tensors of 64 floats, `-w all`, two cores; 0.46 s and 0.76 s with `-j 1`;
/// least of seven runs in turns, release build).
ReduceOutcome reduce_single(const Session& session, const ReduceCommandOptions& options,
                            const std::vector<Wanted>& wanted, ResultView& view, Diagnostics& messages);

}  // namespace smd::tool::reduce
