// SPDX-License-Identifier: Apache-2.0
#include "condition.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "rows/elements.hpp"
#include "rows/row_order.hpp"
#include "select/explanations.hpp"
#include "text/number.hpp"

#include <smd/column.hpp>
#include <smd/snapshot.hpp>

#include <algorithm>
#include <cmath>

namespace smd::tool::wait {

namespace {

using Kind = Condition::Kind;

StepKey key_of(const Condition& condition) { return {condition.mode, ModeStep(*condition.number)}; }

std::string step_text(Mode mode, std::int64_t number) { return kind_of_step(mode) + " " + std::to_string(number); }

std::vector<Condition> tensor_conditions(const WaitCommandOptions& options, Mode mode,
                                         std::optional<std::int64_t> step) {
  std::vector<Condition> result;
  const std::string where = step ? " at " + step_text(mode, *step) : in_the_mode(mode);
  const auto add = [&](TensorQuery query, const std::string& text) {
    result.push_back(
        {.kind = Kind::tensor, .mode = mode, .number = step, .tensors = std::move(query), .text = text + where});
  };
  for (const std::string& name : options.selection.names) {
    add({.names = {name}}, "tensor " + single_quoted(name));
  }
  for (const std::string& regex : options.selection.regexes) {
    add({.regex = {regex}}, "a tensor like " + single_quoted(regex));
  }
  for (const std::string& collection : options.selection.collections) {
    add({.collections = {collection}}, "a tensor of collection " + single_quoted(collection));
  }
  return result;
}

// The standing of a condition that no step can meet any more.
Standing never(const Trial& trial, Standing standing = {}) {
  standing.state = trial.ended() ? StepState::unavailable : StepState::not_yet_available;
  return standing;
}

Standing of_step(const Condition& condition, const Trial& trial) {
  Standing standing;
  const TrialSnapshot snapshot = TrialSnapshot::last(trial);
  standing.state = snapshot.state(key_of(condition));
  standing.step = trial.global_step(condition.mode, ModeStep(*condition.number));
  standing.skipped = snapshot.unavailable_tag(key_of(condition)) == "StepUnavailable";
  return standing;
}

Standing of_tensor(const Condition& condition, const Trial& trial) {
  TensorQuery query = condition.tensors;
  if (condition.number) {
    Standing standing = of_step(condition, trial);
    if (standing.state == StepState::available) {
      query.step = key_of(condition);
      if (trial.tensor_names(query).empty()) {
        standing.state = StepState::unavailable;
        standing.skipped = true;
      }
    }
    return standing;
  }
  Standing standing = never(trial);
  if (!query.names.empty() && !trial.has_tensor(query.names.front())) {
    return standing;  // known without a list of all tensors
  }
  if (const std::vector<std::string> tensors = trial.tensor_names(query); !tensors.empty()) {
    trial.for_each_entry({.tensors = tensors, .mode = condition.mode}, [&](const TensorEntry& entry) {
      standing = {.state = StepState::available, .step = entry.step};
      return false;
    });
  }
  return standing;
}

bool meets(Relation relation, double value, double threshold) {
  if (std::isnan(value) || std::isnan(threshold)) {
    return relation == Relation::unequal;
  }
  return tool::holds(relation, value < threshold ? -1 : value > threshold ? 1 : 0);
}

// The first value of a scalar that meets the condition.
Standing of_value(const Condition& condition, const Trial& trial, ReadValues& read) {
  const std::string& name = condition.comparison.name;
  if (!trial.has_tensor(name)) {
    return never(trial);
  }
  const auto begun = ReadValues::Clock::now();
  const TrialSnapshot snapshot = TrialSnapshot::last(trial);
  const bool goes_on = read.last && trial.layout().marks_steps && !trial.ended() && begun < read.read_again &&
                       snapshot.generation() == read.generation && snapshot.num_steps_up_to(*read.last) == read.steps;
  if (!goes_on) {
    read = {.generation = snapshot.generation()};
  }
  const auto mode = condition.mode == Mode::global ? std::nullopt : std::optional(condition.mode);
  const ScalarColumn column = ScalarColumn::read(trial, name, mode, {}, {}, read.last);
  const double number = *text::number_of(condition.comparison.value);
  Standing standing = read.standing;
  for (const ColumnPart& part : column.parts()) {
    const std::size_t end = part.size();
    if (end != 0 && (!standing.last_step || part.step(end - 1) >= *standing.last_step)) {
      standing.last_step = part.step(end - 1);
      standing.last = element_cell(part.value(end - 1), part.dtype());
    }
    const double threshold = threshold_for(element_cell(number, part.dtype()), number);
    for (std::size_t i = 0; i < end; ++i) {
      const double value = part.value(i);
      if ((!standing.step || part.step(i) < *standing.step) && meets(condition.comparison.relation, value, threshold)) {
        standing.state = StepState::available;
        standing.step = part.step(i);
        standing.value = element_cell(value, part.dtype());
      }
    }
  }
  const std::vector<Problem>& problems = column.problems();
  // The next look begins at the first step that lacks a value which may still come.
  const auto lags = std::ranges::find_if(
      problems, [](const Problem& one) { return one.kind != ProblemKind::damaged && one.kind != ProblemKind::absent; });
  standing.problems.insert(standing.problems.end(), problems.begin(), lags);
  read.standing = standing;
  read.last = lags == problems.end()
                  ? trial.last_complete_step()
                  : std::optional(GlobalStep(std::max<std::int64_t>(lags->step->value, INT64_MIN + 1) - 1));
  read.steps = read.last ? snapshot.num_steps_up_to(*read.last) : 0;
  standing.problems.insert(standing.problems.end(), lags, problems.end());
  standing.no_number = !standing.last_step && standing.problems.empty();
  if (!goes_on) {  // while the job runs, this takes at most a tenth of the time
    read.read_again = begun + 11 * (ReadValues::Clock::now() - begun);
  }
  return standing.value ? standing : never(trial, standing);
}

// The complete step at a place among all complete steps of the mode.
Standing at_place(const Condition& condition, const Trial& trial, const std::vector<ModeStep>& steps,
                  std::size_t place) {
  return place >= steps.size()
             ? never(trial)
             : Standing{.state = StepState::available, .step = trial.global_step(condition.mode, steps[place])};
}

Standing standing_by_index(const Condition& condition, const Trial& trial, ReadValues& read) {
  switch (condition.kind) {
    case Kind::collections:
      if (trial.layout().marks_steps ? trial.workers().size() >= trial.num_workers() : !trial.tensor_names().empty()) {
        return {.state = StepState::available};
      }
      return never(trial);
    case Kind::step:
      return of_step(condition, trial);
    case Kind::tensor:
      return of_tensor(condition, trial);
    case Kind::value:
      return of_value(condition, trial, read);
    case Kind::after: {
      const std::vector<ModeStep> steps = trial.steps(condition.mode);
      const auto next = std::ranges::upper_bound(steps, ModeStep(*condition.number));
      return at_place(condition, trial, steps, static_cast<std::size_t>(next - steps.begin()));
    }
    case Kind::count:
      // All steps are listed only once there may be enough; workers may give a step different numbers in a mode.
      if (const auto last = trial.last_complete_step();
          !last || (condition.mode == Mode::global &&
                    TrialSnapshot::last(trial).num_steps_up_to(*last) < static_cast<std::size_t>(*condition.number))) {
        return never(trial);
      }
      return at_place(condition, trial, trial.steps(condition.mode), static_cast<std::size_t>(*condition.number - 1));
    case Kind::end:
      return {.state = trial.ended() ? StepState::available : StepState::not_yet_available};
  }
  return {};
}

}  // namespace

std::vector<Condition> conditions_of(const WaitCommandOptions& options) {
  std::vector<Condition> result;
  for (const Mode mode : options.selection.modes) {
    const auto add = [&](Kind kind, std::optional<std::int64_t> number, std::string text) {
      result.push_back({.kind = kind, .mode = mode, .number = number, .text = std::move(text)});
    };
    std::vector<std::optional<std::int64_t>> steps(options.steps.begin(), options.steps.end());
    if (steps.empty()) {
      steps.emplace_back();
    }
    for (const std::optional<std::int64_t> step : steps) {
      const std::vector<Condition> tensors = tensor_conditions(options, mode, step);
      if (tensors.empty() && step) {
        add(Kind::step, step, step_text(mode, *step));
      }
      result.insert(result.end(), tensors.begin(), tensors.end());
    }
    for (const Comparison& comparison : options.until) {
      result.push_back({.kind = Kind::value,
                        .mode = mode,
                        .tensors = {.names = {comparison.name}},
                        .comparison = comparison,
                        .text = comparison.text + in_the_mode(mode)});
    }
    if (options.after) {
      add(Kind::after, options.after, "a step after " + step_text(mode, *options.after));
    }
    if (options.count) {
      add(Kind::count, options.count, counted(static_cast<std::size_t>(*options.count), kind_of_step(mode)));
    }
  }
  if (options.end) {
    result.push_back({.kind = Kind::end, .text = "the end of the job"});
  }
  if (result.empty()) {
    result.push_back({.kind = Kind::collections, .text = "all collections files"});
  }
  return result;
}

Standing standing_of(const Condition& condition, const Trial& trial, ReadValues& read) {
  Standing standing = standing_by_index(condition, trial, read);
  // The newest step's index files may come before its event files. For an earlier step, the writers have moved on.
  if (standing.state == StepState::available && standing.step && !trial.ended() &&
      standing.step == trial.last_complete_step() && !trial.has_event_files(*standing.step)) {
    standing.state = StepState::not_yet_available;
  }
  return standing;
}

std::string advice_for(const Condition& condition, const Standing& standing, Trial& trial) {
  if (condition.kind == Kind::collections || condition.kind == Kind::end) {
    return {};
  }
  trial.load_range(StepRange());
  std::string advice;
  const std::vector<std::int64_t> saved = mapped(trial.steps(condition.mode), &ModeStep::value);
  const std::string last = saved.empty() ? "" : ": the last is " + std::to_string(saved.back());
  if (condition.kind == Kind::count) {
    const auto count = static_cast<std::int64_t>(saved.size());
    advice = count == 0 || count >= *condition.number
                 ? ""
                 : (count == 1 ? ": there is " : ": there are ") + std::to_string(count);
  } else if (condition.kind == Kind::after) {
    advice = !saved.empty() && saved.back() <= *condition.number ? last : "";
  } else if (condition.number && !trial.global_step(condition.mode, ModeStep(*condition.number))) {
    advice = (standing.skipped ? nearest_steps(saved, *condition.number) : last) +
             modes_that_have(trial, condition.mode, *condition.number);
  }
  for (const std::string& collection : condition.tensors.collections) {
    if (!trial.collection(collection)) {
      advice += "; " + undefined_collection(collection, trial);
    }
  }
  for (const std::string& name : condition.tensors.names) {
    advice += trial.has_tensor(name) ? "" : did_you_mean(detail::nearest(name, trial.tensor_names()));
  }
  if (standing.no_number) {
    advice += "; " + single_quoted(condition.comparison.name) + " has no single number" + in_the_mode(condition.mode) +
              (trial.ended() ? "" : " so far");
  } else if (standing.last_step && !standing.value) {
    advice += ": the last value is ";
    append_text(advice, standing.last, 0);
    const std::optional<ModeStep> step = trial.mode_step(*standing.last_step, condition.mode);
    advice += step ? ", at " + step_text(condition.mode, step->value) : "";
  }
  return advice;
}

StepRange range_for(const std::vector<Condition>& conditions) {
  std::int64_t least = INT64_MAX;
  for (const Condition& condition : conditions) {
    switch (condition.kind) {
      case Kind::collections:
      case Kind::end:
        break;
      case Kind::step:
      case Kind::tensor:
      case Kind::after:
        if (condition.mode != Mode::global || !condition.number) {
          return {};
        }
        least = std::min(least, *condition.number);
        break;
      case Kind::count:
      case Kind::value:
        return {};
    }
  }
  return least == INT64_MAX ? StepRange{.newest = 1} : StepRange{.first = GlobalStep(least)};
}

}  // namespace smd::tool::wait
