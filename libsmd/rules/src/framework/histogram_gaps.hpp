// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/evaluated_trial.hpp"

#include <string>

namespace smd::detail::rules {

class RuleRun;

/// A warning if histograms of some of these tensors are missing at steps at which their siblings have one: writers of
/// logs leave out histograms that are all NaN. Siblings lie in one run and are of the same kind: gradients, weights,
/// biases, or names with the same last word. A tensor that is saved less often throughout misses nothing. Empty if
/// there is nothing to say.
[[nodiscard]] std::string histogram_gaps(const RuleRun& run, const TensorSet& tensors);

}  // namespace smd::detail::rules
