// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/evaluator.hpp>
#include <smd/trial.hpp>

#include <optional>

#include "cli/diagnostics.hpp"
#include "select/selection.hpp"

namespace smd::tool {

/// -s as one plain range of global steps, half open; not given: no bounds.
struct PlainRange {
  std::optional<GlobalStep> start;
  std::optional<GlobalStep> end;
};
/// Nullopt if -s is no such range, if -m chooses a mode, or if --every leaves steps out.
[[nodiscard]] std::optional<PlainRange> plain_range(const SelectionOptions& selection);

/// The part of a trial that must be read to evaluate rules at the steps that -s and -m mean: up to the end of a range,
/// else everything.
[[nodiscard]] StepRange range_to_evaluate(const SelectionOptions& selection);

/// Sets the steps and workers that -s, -m, --every and -w mean in a trial. Reports what is unavailable, with its
/// status.
/// @pre `options.follow` is set.
void choose_steps(EvaluationOptions& options, const SelectionOptions& selection, Trial& trial, Diagnostics& messages);

}  // namespace smd::tool
