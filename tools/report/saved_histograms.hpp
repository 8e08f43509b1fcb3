// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/evaluator.hpp>
#include <smd/trial.hpp>

#include <map>
#include <string>

#include "draw/chart.hpp"
#include "histories.hpp"

namespace smd::tool::report {

/// The buckets that a job saved in place of values, by tensor: of a few tensors, in byte order, and at no more steps
/// than a heat map shows, the first and the last among them. They are no numbers, so that rules do not read them.
/// What cannot be read is left out.
[[nodiscard]] std::map<std::string, HeatMap> saved_histograms(const Trial& trial, const Histories& histories,
                                                              const EvaluationOptions& steps);

}  // namespace smd::tool::report
