// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/evaluator.hpp>
#include <smd/trial.hpp>

#include <optional>
#include <stop_token>

#include "cli/progress.hpp"
#include "requests/other_trials.hpp"
#include "requests/requests.hpp"

namespace smd::tool {

/// Adds the rule of a request to an evaluation, with the trial that it compares with. If one of them cannot be used,
/// the rule's result says why.
void add_rule(Evaluator& evaluator, const RuleRequest& request, OtherTrials& others);

/// Makes an evaluation show its progress and, once a stop is requested, end between two of its parts. `progress` must
/// outlive the evaluation.
void watch_evaluation(EvaluationOptions& options, Progress& progress, std::stop_token stop);

/// Evaluates the steps that were saved so far, and finishes the evaluation. `end`: the end of the range of steps, if it
/// has one. Returns false if a stop ended it early.
/// @pre `watch_evaluation` was applied to the evaluator's options.
bool evaluate_saved(Evaluator& evaluator, const Trial& trial, std::optional<GlobalStep> end);

}  // namespace smd::tool
