// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "paired_steps.hpp"
#include "view.hpp"

namespace smd::tool::diff {

/// Compares what is selected of two trials and passes a row for each pair of values, or pool of them, to the view, in
/// the documented order. Statuses: 1 if something is not equal, 4 if something cannot be read.
void compare_trials(const ComparedTrial& a, const ComparedTrial& b, const DiffCommandOptions& options, DiffView& view,
                    Diagnostics& messages);

}  // namespace smd::tool::diff
