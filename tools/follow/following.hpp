// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/reading_options.hpp"
#include "follow/following_options.hpp"
#include "select/select.hpp"

namespace smd::tool {

/// What to follow, and how. Everything referred to outlives it.
struct FollowSetup {
  const FollowingOptions& following;
  const SelectionOptions& selection;
  const ReadingOptions& reading;
  SelectionNeeds needs = {};
  bool records = true;  ///< Values will be read.
  bool listed = false;  ///< Standard input lists the operands: none was meant as the name of a tensor.
  /// Called when a trial is open, before its first step.
  std::function<void(Trial& trial)> opened = {};
};

/// Called for each selected step, once it is complete, in order, with what is selected at it; `operand` is the trial's
/// place. One call at a time, even if several trials are followed.
using FollowVisit = std::function<void(std::size_t operand, Trial& trial, Selection&& selection)>;

/// Follows trials, all at once, until each of their jobs has ended, no further step can be chosen, time is up (status
/// 124), or a signal requests a stop. Reports everything that is missing. Returns whether a step was visited.
/// @throws UsageError for bad patterns; other exceptions of the library end only their trial.
bool follow_trials(const std::vector<std::string>& operands, const FollowSetup& setup, Diagnostics& messages,
                   const FollowVisit& visit);

/// Reports which named tensors, collections and workers never came; status 1. Call it after all steps.
void report_never_seen(Trial& trial, const SelectionOptions& options, Diagnostics& messages);

}  // namespace smd::tool
