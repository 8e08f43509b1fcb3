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
ReduceOutcome reduce_single(const Session& session, const ReduceCommandOptions& options,
                            const std::vector<Wanted>& wanted, ResultView& view, Diagnostics& messages);

}  // namespace smd::tool::reduce
