// SPDX-License-Identifier: Apache-2.0
#include "run_facts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <smd/column.hpp>
#include <utility>

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "rows/elements.hpp"
#include "select/explanations.hpp"
#include "select/select.hpp"
#include "select/trial_times.hpp"

namespace smd::tool::runs {

namespace {

/// How many losses of a run are kept to choose among, if none is asked for.
constexpr std::size_t most_losses = 32;

/// The parts of the mode that tells most of a run: EVAL, else TRAIN, else all parts; without empty ones.
std::vector<ColumnPart> parts_that_count(const ScalarColumn& column) {
  std::vector<ColumnPart> parts;
  for (const Mode mode : {Mode::eval, Mode::train, Mode::global}) {
    std::ranges::copy_if(column.parts(), std::back_inserter(parts), [&](const ColumnPart& part) {
      return part.size() > 0 && (mode == Mode::global || part.mode() == mode);
    });
    if (!parts.empty()) {
      break;
    }
  }
  return parts;
}

std::optional<ScalarFacts> scalar_facts(const Trial& trial, const std::string& name, bool least, unsigned jobs,
                                        Diagnostics& messages) {
  const ScalarColumn column = ScalarColumn::read(trial, name, {}, {}, {.jobs = jobs});
  for (const Problem& problem : column.problems()) {
    messages.report_once(problem, trial.path());
  }
  const std::vector<ColumnPart> parts = parts_that_count(column);
  std::optional<std::string_view> worker;
  for (const ColumnPart& part : parts) {
    if (!worker || part.worker() < *worker) {
      worker = part.worker();
    }
  }
  std::map<std::int64_t, ScalarFacts::Number> spoilt;  // by step: what is not finite of another worker
  for (const ColumnPart& part : parts) {
    for (std::size_t i = 0; part.worker() != worker && i < part.size(); ++i) {
      if (!std::isfinite(part.value(i))) {
        spoilt.emplace(part.step(i).value, ScalarFacts::Number{part.number(i), part.dtype()});
      }
    }
  }
  std::optional<ScalarFacts> facts;
  std::int64_t last_step = 0;
  double best = 0;
  for (const ColumnPart& part : parts) {
    if (part.worker() != worker) {
      continue;
    }
    const std::int64_t end = part.step(part.size() - 1).value;
    if (!facts || end >= last_step) {
      facts = facts.value_or(ScalarFacts());
      const auto other = spoilt.find(end);
      facts->last =
          other != spoilt.end() ? other->second : ScalarFacts::Number{part.number(part.size() - 1), part.dtype()};
      facts->of_one_mode = sum_of(parts, &ColumnPart::size) < column.size();
      last_step = end;
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
      const double value = part.value(i);
      const std::int64_t step = part.step(i).value;
      const bool better =
          !facts->best || (least ? value < best : value > best) || (value == best && step < facts->best_step);
      if (std::isfinite(value) && better && !spoilt.contains(step)) {
        best = value;
        facts->best = {part.number(i), part.dtype()};
        facts->best_step = step;
      }
    }
  }
  // A value that is not finite, at the last step or later, counts in any mode and of any worker.
  for (const ColumnPart& part : column.parts()) {
    const std::size_t size = part.size();
    if (facts && size > 0 && part.step(size - 1).value >= last_step && !std::isfinite(part.value(size - 1))) {
      last_step = part.step(size - 1).value;
      facts->last = {part.number(size - 1), part.dtype()};
    }
  }
  return facts;
}

/// The scalars to look at, those asked for, else the losses; `--best` with either.
std::vector<std::string> wanted_scalars(const Trial& trial, const RunsOptions& options,
                                        const std::vector<std::string>& losses) {
  std::vector<std::string> names;
  if (options.selection.selects_tensors()) {
    if (const std::optional<TensorQuery> query = tensor_query(trial, options.selection)) {
      names = trial.tensor_names(*query);
    }
  } else {
    names = losses;
    names.resize(std::min(names.size(), most_losses));
  }
  if (options.best && trial.has_tensor(*options.best) && std::ranges::find(names, *options.best) == names.end()) {
    names.push_back(*options.best);
  }
  return names;
}

std::vector<std::string> losses_of(const Trial& trial, const RunsOptions& options) {
  return trial.collection("losses")
             ? trial.tensor_names({.collections = {"losses"}, .exclude = options.selection.excludes})
             : std::vector<std::string>();
}

void read_into(RunFacts& facts, const Trial& trial, const RunsOptions& options, unsigned jobs, Diagnostics& messages) {
  const std::vector<GlobalStep> steps = trial.steps(true);
  if (steps.empty() && partly_unread(trial)) {
    return;
  }
  facts.status = job_status(trial);
  if (const std::optional<FileTotals> files = file_totals(trial)) {
    facts.age = facts.status == "ended" ? std::nullopt : std::optional(age_of(*files));
    facts.disk = files->bytes;
  }
  facts.steps = steps.size();
  facts.last_step = steps.empty() ? std::nullopt : std::optional(steps.back().value);
  const Pace pace = pace_of(trial, steps, messages);
  facts.duration = pace.duration;
  facts.rate = pace.rate;
  facts.exit_code = trial.exit_code();
  if (const std::string left_out = incomplete_steps(trial); !left_out.empty() && !options.following.follow) {
    messages.note_once(left_out + "; nothing is read there");
  }
  const std::vector<std::string> losses = losses_of(trial, options);
  for (const std::string& name : wanted_scalars(trial, options, losses)) {
    const bool is_loss = std::ranges::binary_search(losses, name);
    const bool least = options.least_is_best(name, is_loss);
    if (std::optional<ScalarFacts> scalar = scalar_facts(trial, name, least, jobs, messages)) {
      facts.scalars.emplace(name, *scalar);
      if (is_loss) {
        facts.losses.push_back(name);
      }
    }
  }
  for (const std::string& name : options.named()) {
    if (!trial.has_tensor(name)) {
      facts.nearest.emplace(name, nearest_names(name, trial.tensor_names()));
    }
  }
  if (options.hp != HpChoice::none) {
    for (const auto& [key, json] : trial.hyperparameters().values) {
      facts.hyperparameters.emplace(key, HpValue(json));
    }
  }
  facts.layout = trial.layout().name;
  if (const auto superseded = trial.superseded(); !superseded.empty()) {
    const auto values = sum_of(superseded, [](const auto& one) { return one.second; });
    messages.note_once(superseded_note(values, superseded.size()));
  }
}

}  // namespace

Cell ScalarFacts::Number::cell() const {
  return Elements(TensorView(dtype, {}, std::as_bytes(std::span(&bits, 1)).first(item_size(dtype)))).cell(0);
}

RunFacts read_run(const std::string& path, std::string run, const RunsOptions& options, unsigned jobs,
                  Diagnostics& messages) {
  RunFacts facts = {.trial = path, .run = std::move(run)};
  TrialOptions reading = options.reading.trial_options();
  reading.jobs = jobs;
  with_trial(path, reading, messages, [&](Trial& trial) { read_into(facts, trial, options, jobs, messages); });
  if (!facts.readable()) {
    return {.trial = path, .run = std::move(facts.run)};
  }
  return facts;
}

}  // namespace smd::tool::runs
