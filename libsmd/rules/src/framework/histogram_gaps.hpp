// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/evaluated_trial.hpp"

#include <string>

namespace smd::detail::rules {

class RuleRun;

/// Returns a warning if some of these tensors have no histogram at steps at which their siblings have one: writers of
/// logs leave out histograms that are all NaN. Siblings are in the same run and of the same kind: gradients, weights,
/// biases, or names with the same last word. A tensor that is saved less often throughout is not reported. Empty if
/// there is nothing to report.
[[nodiscard]] std::string histogram_gaps(const RuleRun& run, const TensorSet& tensors);

}  // namespace smd::detail::rules
