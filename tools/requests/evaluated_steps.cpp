// SPDX-License-Identifier: Apache-2.0
#include "requests/evaluated_steps.hpp"

#include "select/select.hpp"

#include <algorithm>
#include <utility>

namespace smd::tool {

std::optional<PlainRange> plain_range(const SelectionOptions& selection) {
  if (selection.modes.size() != 1 || selection.modes.front() != Mode::global || selection.every != 1) {
    return std::nullopt;
  }
  PlainRange range;
  if (!selection.steps || selection.steps->all()) {
    return range;
  }
  const std::vector<StepTerm>& terms = selection.steps->terms();
  const auto negative = [](const std::optional<std::int64_t>& bound) { return bound && *bound < 0; };
  if (terms.size() != 1 || terms[0].single || terms[0].stride != 1 || negative(terms[0].start) ||
      negative(terms[0].stop)) {
    return std::nullopt;
  }
  range.start = GlobalStep(terms[0].start.value_or(0));
  if (terms[0].stop) {
    range.end = GlobalStep(*terms[0].stop);
  }
  return range;
}

StepRange range_to_evaluate(const SelectionOptions& selection) {
  const std::optional<PlainRange> range = plain_range(selection);
  return range && range->end ? StepRange::between(GlobalStep(0), range->end) : StepRange();
}

void choose_steps(EvaluationOptions& options, const SelectionOptions& selection, Trial& trial, Diagnostics& messages) {
  if (!options.follow) {
    static_cast<void>(check_worker(trial, selection, messages));
  }
  if (selection.worker) {
    options.workers = {*selection.worker};
  }
  SelectionOptions evaluated = selection;
  evaluated.all_workers = !selection.worker;
  note_superseded(trial, evaluated, {}, {}, messages);
  options.parameter_bounds = !selection.steps;
  if (const std::optional<PlainRange> range = plain_range(selection)) {
    options.start = range->start;
    options.end = range->end;
    return;
  }
  const std::vector<Mode> saved = trial.modes();
  const bool one_mode = !selection.steps && selection.modes.size() == 1 && selection.every == 1;
  if (one_mode && (options.follow || std::find(saved.begin(), saved.end(), selection.modes.front()) != saved.end())) {
    options.mode = selection.modes.front();
    return;
  }
  std::vector<GlobalStep> steps;
  for (const SelectedStep& step : select_steps(trial, selection, StepSpec(), messages)) {
    steps.push_back(step.step);
  }
  // Rules may look back at steps before those chosen.
  trial.load_range(StepRange());
  options.steps = std::move(steps);
}

}  // namespace smd::tool
