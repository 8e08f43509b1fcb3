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
/// Nothing if it is no such range, if -m chooses a mode, or --every leaves steps out.
[[nodiscard]] std::optional<PlainRange> plain_range(const SelectionOptions& selection);

/// What of a trial must be read to evaluate rules at the steps that -s and -m mean: no more than up to the end of a
/// range.
[[nodiscard]] StepRange range_to_evaluate(const SelectionOptions& selection);

/// Sets which steps and workers -s, -m, --every and -w mean in a trial; `options.follow` is set. What cannot be had is
/// said, with its status.
void choose_steps(EvaluationOptions& options, const SelectionOptions& selection, Trial& trial, Diagnostics& messages);

}  // namespace smd::tool
