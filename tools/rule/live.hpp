// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "evaluate.hpp"
#include "reports.hpp"

namespace smd::tool::rule {

/// Follows trials, all at once: each rule sees each step once it is complete. Ends when the jobs have ended, no rule
/// needs further steps, time is up (status 124), or a signal requests a stop; what was found by then is reported.
/// @throws UsageError for bad patterns.
void evaluate_live(const EvaluationContext& context, const std::vector<std::string>& operands, Reports& reports);

}  // namespace smd::tool::rule
