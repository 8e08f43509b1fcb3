// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "cli/text.hpp"
#include "select/explanations.hpp"
#include "select/trial_times.hpp"

#include <algorithm>
#include <utility>

namespace smd::tool::reduce {

namespace {

bool counts(const TensorEntry& entry) { return entry.value || !entry.reductions.empty(); }

}  // namespace

SelectionNeeds selection_needs(const ReduceCommandOptions& options) {
  if (options.view == ReduceViewKind::hist && !options.slice) {
    return {.counts = [](const TensorEntry& entry) { return entry.value || saved_buckets(entry) != nullptr; }};
  }
  const bool values_only = options.view == ReduceViewKind::hist || options.slice || options.by.row ||
                           options.source == SourceChoice::computed;
  return {.counts = [values_only](const TensorEntry& entry) {
    return values_only ? entry.value.has_value() : counts(entry);
  }};
}

bool Session::shows(std::string_view tensor, GlobalStep step) const {
  return !shown || (shown->has(step) && (tensor.empty() || shown->wants(tensor, step)));
}

void Session::for_each_entry(const ReduceCommandOptions& options,
                             const std::function<bool(const TensorEntry&)>& visit) const {
  if (!empty()) {
    for_each_entry(options, tensors(), steps(), visit);
  }
}

void Session::for_each_entry(const ReduceCommandOptions& options, std::span<const std::string> some_tensors,
                             std::span<const SelectedStep> some_steps,
                             const std::function<bool(const TensorEntry&)>& visit) const {
  EntryQuery query = entry_query(options.selection, {some_tensors.begin(), some_tensors.end()}, some_steps);
  query.arrivals = selection.arrivals;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    return !counts(entry) || !selection.steps.wants(entry.tensor, entry.step) || visit(entry);
  });
}

std::uint64_t Session::count_entries(const ReduceCommandOptions& options) const {
  std::uint64_t count = 0;
  for_each_entry(options, [&count](const TensorEntry&) {
    ++count;
    return true;
  });
  return count;
}

SavedForms Session::forms(const ReduceCommandOptions& options) const {
  SavedForms forms;
  if (!empty()) {
    trial.for_each_entry(entry_query(options.selection, selection), [&](const TensorEntry& entry) {
      if (selection.steps.wants(entry.tensor, entry.step)) {
        forms.add(entry);
      }
      return !forms.value;
    });
  }
  return forms;
}

void say_nothing_found(std::string_view name, const SavedForms& forms, const ReduceCommandOptions& options,
                       Trial* trial, Diagnostics& messages) {
  const bool reductions = !forms.reductions.empty();
  if (messages.status() != ExitStatus::yes || forms.value || (!reductions && !forms.shape)) {
    say_nothing_selected(trial, options.selection, messages);
    return;
  }
  const std::string_view what = reductions && options.asks_for_saved()
                                    ? ": only empty histograms were saved of what is selected, which have no statistics"
                                : reductions ? ": no values, only reductions, were saved of what is selected; "
                                               "smd-reduce -r saved prints them"
                                             : ": no values or reductions, only shapes, were saved of what is "
                                               "selected; smd-ls -l prints them";
  messages.fail("TensorUnavailableForStep", std::string(name) + std::string(what), ExitStatus::no);
}

Session open_session(Trial& trial, const std::string& name, const ReduceCommandOptions& options,
                     Diagnostics& messages) {
  Session session{trial, name, select(trial, options.selection, selection_needs(options), messages)};
  note_superseded(trial, options.selection, {}, options.reading, messages);
  if (options.output.names("elapsed")) {
    session.started = first_time(trial, messages);
  }
  if (options.smooth && !session.empty()) {
    SelectionOptions all = options.selection;
    all.steps.reset();
    all.every = 1;
    session.shown = std::exchange(session.selection.steps, {select_steps(trial, all, {}, messages), {}});
  }
  std::vector<SelectedStep>& steps = session.selection.steps.steps;
  if (options.shard && !steps.empty()) {
    session.sharded = {steps.size(), steps.front().step.value, steps.back().step.value};
    const auto [begin, end] = options.shard->range(steps.size());
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(end), steps.end());
    steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return session;
}

StepRange range_to_open(const ReduceCommandOptions& options) {
  const bool all = options.smooth || options.output.names("elapsed");
  return options.selection.steps && !all ? range_to_read_of_tensors(options.selection, *options.selection.steps)
                                         : StepRange();
}

void report_no_number(std::string_view tensor, GlobalStep step, std::string_view reduction, Diagnostics& messages) {
  messages.fail("Damaged",
                single_quoted(tensor) + " step " + std::to_string(step.value) + ": saved " + std::string(reduction) +
                    " is not one number",
                ExitStatus::damaged);
}

void report_slice(std::string_view tensor, std::string_view why, Diagnostics& messages) {
  messages.fail("Usage", "--slice: " + single_quoted(tensor) + ": " + std::string(why), ExitStatus::usage);
}

void report(const Problem& problem, std::string_view tensor, GlobalStep step, const Trial& trial,
            Diagnostics& messages) {
  messages.report_record(problem, trial.path(), single_quoted(tensor) + " at step " + std::to_string(step.value));
}

}  // namespace smd::tool::reduce
