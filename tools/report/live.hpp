// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examination.hpp"

namespace smd::tool::report {

/// Writes the page of what is known of all trials. `running`: the page will be written again.
using WritePage = std::function<void(std::vector<TrialReport>& trials, bool running)>;

/// Follows trials, all at once, and writes the page anew at most each --interval, and at the end: when the jobs have
/// ended, time is up (status 124), or a signal requests a stop.
/// @throws UsageError for bad patterns; OutputError.
void examine_live(const ExaminationContext& context, const std::vector<std::string>& operands, const WritePage& write);

}  // namespace smd::tool::report
