// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "cli/progress.hpp"
#include "follow/followed_trials.hpp"
#include "requests/other_trials.hpp"
#include "requests/requests.hpp"
#include "select/selection.hpp"

#include <smd/evaluator.hpp>
#include <smd/trial.hpp>

#include <optional>
#include <stop_token>

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

/// Evaluates what has come to a trial that is followed. Returns whether that was all: its job is over, or no rule wants
/// more. The caller then finishes the evaluation: whole if `what.ended`.
bool evaluate_tick(Evaluator& evaluator, const FollowTick& what);

/// Finishes an evaluation before the trial's end. Returns false if steps that must be evaluated again can no longer be
/// read: the results are then those of the steps before.
bool finish_early(Evaluator& evaluator);

/// -s as one plain range of global steps, half open; not given: no bounds. Nullopt if -s is no such range, if -m
/// chooses a mode, or if --every leaves steps out.
[[nodiscard]] std::optional<StepRange> plain_range(const SelectionOptions& selection);

/// Sets the steps and workers that -s, -m, --every and -w mean in a trial. Reports what is unavailable, with its
/// status.
/// @pre `options.follow` is set.
void choose_steps(EvaluationOptions& options, const SelectionOptions& selection, Trial& trial, Diagnostics& messages);

/// For --follow, when the job has ended: reports a worker or mode that was never saved, as `choose_steps` does of what
/// is not followed. Returns false if the mode was not.
bool check_choice(const SelectionOptions& selection, Trial& trial, Diagnostics& messages);

}  // namespace smd::tool
