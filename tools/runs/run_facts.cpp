// SPDX-License-Identifier: Apache-2.0
#include "run_facts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <queue>
#include <smd/column.hpp>
#include <smd/error.hpp>
#include <utility>

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "rows/elements.hpp"
#include "select/saved_forms.hpp"
#include "select/select.hpp"

namespace smd::tool::runs {

namespace {

/// How many losses of a run are kept to choose among, if none is asked for.
constexpr std::size_t most_losses = 32;

/// The parts of the mode that tells most of a run: EVAL, else TRAIN, else all parts; without empty ones, by worker.
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
  detail::sort_if_needed(parts, [](const auto& a, const auto& b) { return a.worker() < b.worker(); });
  return parts;
}

/// Whether the column leaves out the newest value, which is not one real number: not because it is missing, or not yet
/// there.
bool lacks_newest(const ScalarColumn& column, const Trial& trial, const std::string& name) {
  const bool looks = column.others() > 0 && !contains(mapped(column.problems(), &Problem::kind), ProblemKind::not_yet);
  const std::vector<GlobalStep> steps = looks ? trial.tensor(name).steps() : std::vector<GlobalStep>();
  return !steps.empty() && column.last_unread() < steps.back() &&
         std::ranges::none_of(column.parts(), [&](const ColumnPart& part) {
           return part.size() > 0 && part.step(part.size() - 1) >= steps.back();
         });
}

ScalarValue value_at(const ColumnPart& part, std::size_t i) {
  return {part.step(i).value, part.value(i), part.number(i), part.dtype()};
}

/// `unknown_last`: nobody can say what the last value is, unless one of the newest is not finite.
std::optional<ScalarFacts> scalar_facts(const ScalarColumn& column, bool doubts_zero, bool unknown_last) {
  BestAndLast values(true, doubts_zero);
  BestAndLast greatest(false, false);
  const std::vector<ColumnPart> parts = parts_that_count(column);
  if (parts.empty()) {
    return std::nullopt;
  }
  using Next = std::pair<std::int64_t, std::size_t>;  // the step of the next value of a part, and its place in `parts`
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  std::vector<std::size_t> taken(parts.size());  // of each part
  for (std::size_t i = 0; i < parts.size(); ++i) {
    next.emplace(parts[i].step(0).value, i);
  }
  while (!next.empty()) {
    const std::size_t i = next.top().second;
    next.pop();
    values.add(value_at(parts[i], taken[i]));
    greatest.add(value_at(parts[i], taken[i]));
    if (++taken[i] < parts[i].size()) {
      next.emplace(parts[i].step(taken[i]).value, i);
    }
  }
  // A newest value that is not finite counts in any mode and of any worker.
  std::map<std::pair<std::string_view, Mode>, ScalarValue> newest;
  for (const ColumnPart& part : column.parts()) {
    if (part.size() > 0) {
      const ScalarValue end = value_at(part, part.size() - 1);
      ScalarValue& known = newest.try_emplace({part.worker(), part.mode()}, end).first->second;
      known = end.step >= known.step ? end : known;
    }
  }
  for (const auto& [unused, value] : newest) {
    values.add_newest(value);
  }
  return ScalarFacts{.last = unknown_last && std::isfinite(values.last()->number) ? std::nullopt : values.last(),
                     .least = values.best(),
                     .greatest = greatest.best(),
                     .doubted_zero = values.doubted_zero(),
                     .of_one_mode = sum_of(parts, &ColumnPart::size) < column.size()};
}

/// The scalars asked for, else the losses.
std::vector<std::string> selected_scalars(const Trial& trial, const RunsOptions& options,
                                          const std::vector<std::string>& losses) {
  if (options.selection.selects_tensors()) {
    return tensors_at(trial, options.selection, std::nullopt);
  }
  std::vector<std::string> names = losses;
  names.resize(std::min(names.size(), most_losses));
  return names;
}

/// Reads a scalar. Returns whether it has numbers, or it was said why they cannot be read.
bool read_scalar(RunFacts& facts, const Trial& trial, const std::string& name, bool is_loss, const RunsOptions& options,
                 unsigned jobs, Diagnostics& messages) {
  const bool doubts_zero = is_loss && !trial.layout().has_modes && !contains(options.least, name);
  const ScalarColumn column = ScalarColumn::read(trial, name, {}, {}, {.jobs = jobs});
  const bool other = lacks_newest(column, trial, name);
  const std::optional<ScalarFacts> scalar = scalar_facts(column, doubts_zero, other || column.last_unread());
  if (scalar && other) {
    messages.note_once(single_quoted(name) + ": the newest value is no single number");
  }
  bool unread = false;
  for (const Problem& problem : column.problems()) {
    const bool absent = problem.kind == ProblemKind::absent;
    // With numbers, the job will soon write it.
    const bool only_not_yet = problem.kind == ProblemKind::not_yet && !scalar;
    const bool again = options.following.follow;
    facts.rests = facts.rests && (absent || problem.kind == ProblemKind::damaged);  // else it may be read later
    unread = unread || problem.kind != ProblemKind::not_yet || (only_not_yet && !again);
    if ((absent || only_not_yet) && !again) {
      messages.report_record(problem, trial.path(), single_quoted(name));
    } else {
      messages.report_once(problem, trial.path());
    }
    if (absent) {
      messages.raise(ExitStatus::no);
    }
  }
  if (scalar) {
    facts.scalars.emplace(name, *scalar).first->second.is_loss = is_loss;
  } else if (column.problems().empty() && contains(options.named(), name)) {
    const SavedForms forms = forms_of(trial, name);
    const std::string text =
        single_quoted(name) + (forms.value || forms.reductions.empty()
                                   ? " is no single number at a complete step of any run"
                                   : ": no values, only reductions, were saved; smd-reduce -r saved prints them");
    facts.lacks.emplace("-n " + name, Lack{{"TensorUnavailable", text}, true});
  }
  return unread || scalar;
}

/// Notes why the run has nothing of what was asked for. `answered`: whether any scalar of `selected` was, as
/// `read_scalar` says.
void note_lacks(RunFacts& facts, Trial& trial, const RunsOptions& options, const std::vector<std::string>& selected,
                bool answered) {
  for (const std::string& name : options.named()) {
    if (!trial.has_tensor(name)) {
      const std::string nearest = did_you_mean(detail::nearest(name, trial.tensor_names()));
      facts.lacks.emplace("-n " + name,
                          Lack{{"TensorUnavailable", single_quoted(name) + " was saved by no run" + nearest}});
    }
  }
  for (const std::string& name : options.selection.collections) {
    if (!trial.collection(name)) {
      facts.lacks.emplace("-c " + name, Lack{{"NotFound", undefined_collection(name, trial)}});
    }
  }
  if (options.selection.selects_tensors() && !answered) {
    facts.lacks.emplace(
        "", selected.empty()
                ? Lack{why_nothing(trial, options.selection)}
                : Lack{{"TensorUnavailable", "no tensor asked for is one number at a complete step"}, true});
  }
}

void read_into(RunFacts& facts, Trial& trial, const RunsOptions& options, unsigned jobs, Diagnostics& messages) {
  const std::vector<GlobalStep> steps = trial.steps(true);
  if (steps.empty() && partly_unread(trial)) {
    return;
  }
  facts.status = job_status(trial);
  facts.ended = trial.ended();
  facts.over = facts.status == "ended" && (trial.layout().marks_steps || is_remote_path(facts.trial));
  facts.files = file_totals(trial);
  facts.rests = facts.files && std::chrono::seconds(age_of(*facts.files)) >= young && !partly_unread(trial);
  facts.steps = steps.size();
  facts.last_step = steps.empty() ? std::nullopt : std::optional(steps.back().value);
  facts.pace = pace_of(trial, steps, messages);
  facts.exit_code = trial.exit_code();
  if (const std::string text = incomplete_steps(trial); !text.empty() && !facts.ended && !options.following.follow) {
    messages.note_once(text + "; nothing is read there");
  }
  const std::vector<std::string> losses =
      trial.tensor_names({.collections = {"losses"}, .exclude = options.selection.excludes});
  const std::vector<std::string> selected = selected_scalars(trial, options, losses);
  std::vector<std::string> wanted = selected;
  for (const std::string& name : options.named()) {  // but -x takes away what only -n names
    if (!contains(options.selection.names, name) && trial.has_tensor(name)) {
      add_once(wanted, name);
    }
  }
  bool answered = false;  // a scalar of the selection
  for (const std::string& name : wanted) {
    const bool is_loss = std::ranges::binary_search(losses, name);
    const bool has_answer = read_scalar(facts, trial, name, is_loss, options, jobs, messages);
    answered = answered || (has_answer && contains(selected, name));
  }
  note_lacks(facts, trial, options, selected, answered);
  if (options.hp != HpChoice::none) {
    for (const auto& [key, json] : trial.hyperparameters()) {
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

Cell cell_of(const std::optional<ScalarValue>& value) {
  if (!value) {
    return {};
  }
  const auto bytes = std::as_bytes(std::span(&value->bits, 1)).first(item_size(value->dtype));
  return Elements(TensorView(value->dtype, {}, bytes)).cell(0);
}

RunFacts read_run(const std::string& path, std::string run, const RunsOptions& options, unsigned jobs, bool grows,
                  Diagnostics& messages) {
  RunFacts facts = {.trial = path, .run = std::move(run)};
  TrialOptions reading = options.reading.trial_options({}, jobs);
  reading.until_it_grows = options.following.follow;  // without it, every log counts as ended
  reading.as_it_stands = !grows;
  const auto open = [&](const TrialOptions& as) -> std::optional<Trial> {
    try {
      return Trial::open(path, as);
    } catch (const MissingCollectionFiles& error) {
      facts.awaited = options.following.follow && !error.ended;
      if (!facts.awaited) {
        throw;
      }
    } catch (const ReadError& error) {
      facts.awaited = grows && error.problem.kind == ProblemKind::not_yet;
      if (!facts.awaited) {
        throw;
      }
    }
    messages.note_once(path + ": has no data yet, waiting for it");
    return std::nullopt;
  };
  const auto read = [&](Trial& trial) { read_into(facts, trial, options, jobs, messages); };
  with_trial(path, reading, messages, read, {}, open);
  if (!facts.readable()) {
    return {.trial = path, .run = std::move(facts.run), .awaited = facts.awaited};
  }
  return facts;
}

}  // namespace smd::tool::runs
