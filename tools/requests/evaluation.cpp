// SPDX-License-Identifier: Apache-2.0
#include "requests/evaluation.hpp"

#include "cli/mapped.hpp"
#include "select/select.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace smd::tool {

namespace {

/// Thrown to leave an evaluation between two of its parts.
struct Interrupted {};

}  // namespace

void add_rule(Evaluator& evaluator, const RuleRequest& request, OtherTrials& others) {
  const RuleConfiguration& configuration = request.configuration;
  if (request.error) {
    evaluator.add_error(configuration.name, configuration.rule_to_invoke, *request.error);
    return;
  }
  std::unique_ptr<Rule> rule = make_rule(configuration);
  std::vector<const Trial*> compared;
  const std::string parameter(other_parameter);
  if (request.other_trials > 0 && rule->parameters().has(parameter)) {
    std::string why;
    const Trial* const other = others.open(rule->parameters().text(parameter), why);
    if (other == nullptr) {
      evaluator.add_error(configuration.name, rule->name(),
                          ConfigurationError(ConfigurationErrorKind::bad_trial, why, parameter));
      return;
    }
    compared.push_back(other);
  }
  evaluator.add(std::move(rule), configuration.name, std::move(compared));
}

void watch_evaluation(EvaluationOptions& options, Progress& progress, std::stop_token stop) {
  options.progress = [&progress, stop = std::move(stop)](std::uint64_t done, std::uint64_t total) {
    progress.at(done, total);
    if (stop.stop_requested()) {
      throw Interrupted();
    }
  };
}

bool evaluate_saved(Evaluator& evaluator, const Trial& trial, std::optional<GlobalStep> end) {
  bool all = false;
  try {
    evaluator.offer();
    all = true;
  } catch (const Interrupted&) {  // a stop was requested between two parts
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::stopped) {
      throw;
    }
  }
  // If the trial goes on beyond the range, the rules must not take the end of the range for its end.
  const std::vector<GlobalStep> listed = all ? trial.listed_steps() : std::vector<GlobalStep>();
  evaluator.finish(all && !(end && !listed.empty() && listed.back() >= *end));
  return all;
}

bool evaluate_tick(Evaluator& evaluator, const FollowTick& what) {
  if (what.again) {
    evaluator.restart();
  }
  if (what.last) {  // INT64_MIN: nothing is compared yet
    evaluator.offer(what.last, what.compared.value_or(GlobalStep(INT64_MIN)));
  }
  if (what.ended) {
    evaluator.offer();
    return true;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now().time_since_epoch();
  evaluator.tick(seconds.count(), what.new_data, what.whole);
  return evaluator.all_done();
}

bool finish_early(Evaluator& evaluator) {
  try {
    evaluator.finish(false);
    return true;
  } catch (const Error&) {
    evaluator.finish(false);  // this time, no step is evaluated again
    return false;
  }
}

std::optional<StepRange> plain_range(const SelectionOptions& selection) {
  if (selection.modes.size() != 1 || selection.modes.front() != Mode::global || selection.every != 1) {
    return std::nullopt;
  }
  if (!selection.steps || selection.steps->all()) {
    return StepRange();
  }
  const std::vector<StepTerm>& terms = selection.steps->terms();
  if (terms.size() != 1 || terms[0].single || terms[0].stride != 1 || counts_from_end(terms[0])) {
    return std::nullopt;
  }
  const auto step = [](const std::optional<std::int64_t>& bound) {
    return bound ? std::optional(GlobalStep(*bound)) : std::nullopt;
  };
  return StepRange{.first = step(terms[0].start), .end = step(terms[0].stop)};
}

void choose_steps(EvaluationOptions& options, const SelectionOptions& selection, Trial& trial, Diagnostics& messages) {
  if (!options.follow) {
    static_cast<void>(check_worker(trial, selection, messages));
  }
  options.workers = selection.workers();
  SelectionOptions evaluated = selection;
  evaluated.all_workers = !selection.worker;
  note_superseded(trial, evaluated, {}, {}, messages);
  options.parameter_bounds = !selection.steps;
  if (const std::optional<StepRange> range = plain_range(selection)) {
    options.start = range->first;
    options.end = range->end;
    return;
  }
  const std::vector<Mode> saved = trial.modes();
  const bool one_mode = !selection.steps && selection.modes.size() == 1 && selection.every == 1;
  if (one_mode && (options.follow || contains(saved, selection.modes.front()))) {
    options.mode = selection.modes.front();
    return;
  }
  std::vector<GlobalStep> steps = mapped(select_steps(trial, selection, StepSpec(), messages), &SelectedStep::step);
  // Also steps that wait for a worker: they are not evaluated, and the result says so.
  const std::optional<GlobalStep> complete = trial.last_complete_step();
  for (const Mode mode : selection.modes) {
    const std::vector<SelectedStep> known = candidates_in(trial, {.options = selection}, mode, true);
    for (const std::size_t index : selection.steps.value_or(StepSpec()).choose(numbers_of(known)).indices) {
      if (!complete || known[index].step > *complete) {
        steps.push_back(known[index].step);
      }
    }
  }
  detail::sort_each_once(steps);
  options.steps = std::move(steps);
}

bool check_choice(const SelectionOptions& selection, Trial& trial, Diagnostics& messages) {
  static_cast<void>(check_worker(trial, selection, messages));
  const Mode mode = selection.modes.front();
  if (mode == Mode::global || contains(trial.modes(), mode)) {
    return true;
  }
  static_cast<void>(select_steps(trial, selection, StepSpec(), messages));
  return false;
}

}  // namespace smd::tool
