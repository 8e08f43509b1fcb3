// SPDX-License-Identifier: Apache-2.0
#include "select/select.hpp"

#include "cli/text.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace smd::tool {

namespace {

/// Whether the options leave out steps that are complete.
bool narrows_steps(const SelectionOptions& options) {
  const bool all_modes = std::find(options.modes.begin(), options.modes.end(), Mode::global) != options.modes.end();
  return !all_modes || (options.steps && !options.steps->all()) || options.every > 1;
}

/// Whether select_steps, which works step by step, would return all steps there are.
bool takes_every_step(const Trial& trial, const SelectionOptions& options) {
  if (narrows_steps(options)) {
    return false;
  }
  if (!trial.layout().marks_steps) {  // each that is known is complete
    return trial.last_complete_step().has_value();
  }
  const std::size_t known = trial.steps(true).size();
  return known != 0 && (options.incomplete || trial.steps(false).size() == known);
}

/// Whether all workers that wrote these steps claim the mode asked for, if it is one.
bool every_claim_fits(const Trial& trial, std::span<const SelectedStep> steps, const SelectionOptions& options) {
  const std::optional<Mode> mode = only_mode(options);
  if (!mode) {
    return true;
  }
  const std::vector<Mode> modes = trial.modes();
  return std::all_of(steps.begin(), steps.end(), [&](const SelectedStep& step) {
    return std::none_of(modes.begin(), modes.end(),
                        [&](Mode other) { return other != *mode && trial.mode_step(step.step, other); });
  });
}

/// Whether a list of all tensors may stay empty: nothing narrows them, and there are none that must be named.
bool takes_every_tensor(const Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs) {
  const bool hides = !trial.layout().marks_steps && trial.collection("system").has_value();
  return !needs.lists && !options.selects_tensors() && options.excludes.empty() && !hides;
}

}  // namespace

Selection select(Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs, Diagnostics& messages) {
  Selection selection;
  selection.every_worker = !options.worker;
  const StepSpec& spec = options.steps ? *options.steps : needs.fallback;
  const bool of_tensors = needs.counts && counts_from_end(spec) && !trial.listed_steps().empty();
  if (of_tensors) {
    // Which steps there are depends on the tensors, and on the worker that saved them.
    if (!check_worker(trial, options, messages)) {
      return selection;
    }
    selection.tensors = select_tensors(trial, options, messages);
    if (!selection.tensors.empty()) {
      selection.steps = select_steps_of_tensors(trial, options, spec, selection.tensors, needs.counts, messages);
    } else if (messages.status() == ExitStatus::yes) {
      selection.steps.steps = select_steps(trial, options, spec, messages);  // says more of an empty mode
    }
    return selection;
  }
  selection.every_step = !needs.lists && takes_every_step(trial, options);
  if (!selection.every_step) {
    selection.steps.steps = select_steps(trial, options, spec, messages);
    if (selection.steps.steps.empty()) {
      return selection;
    }
    selection.every_claim = every_claim_fits(trial, selection.steps.steps, options);
  }
  // Only after the steps were read are all workers known that wrote them.
  if (!check_worker(trial, options, messages)) {
    selection.steps.steps.clear();
    selection.every_step = false;
    return selection;
  }
  selection.every_tensor = takes_every_tensor(trial, options, needs);
  if (!selection.every_tensor) {
    selection.tensors = select_tensors(trial, options, messages);
  }
  return selection;
}

Selection select_at(const Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs,
                    const SelectedStep& step) {
  Selection selection;
  selection.every_worker = !options.worker;
  selection.every_tensor = takes_every_tensor(trial, options, needs);
  selection.steps.steps = {step};
  selection.every_claim = every_claim_fits(trial, selection.steps.steps, options);
  if (!selection.every_tensor) {
    selection.tensors = tensors_at(trial, options, step.step);
  }
  return selection;
}

void note_superseded(const Trial& trial, const SelectionOptions& options, const StepSpec& fallback,
                     const ReadingOptions& reading, Diagnostics& messages, const std::string& about) {
  std::optional<TensorQuery> tensors = tensor_query(trial, options);
  if (reading.superseded != Superseded::left_out || !tensors || !messages.shows(Level::warning)) {
    return;
  }
  tensors->superseded = true;
  EntryQuery query = entry_query(options, trial.tensor_names(*tensors), {});
  if (query.tensors.empty()) {
    return;
  }
  query.steps.reset();
  query.superseded = true;
  std::vector<std::string_view> names;
  std::vector<std::int64_t> steps;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    names.push_back(entry.tensor);
    steps.push_back(entry.step.value);
    return true;
  });
  const StepSpec spec = options.steps.value_or(fallback);
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t values = 0;
  for (const std::size_t i : (counts_from_end(spec) ? StepSpec() : spec).choose(steps).indices) {
    ++counts[std::string(names[i])];
    ++values;
  }
  if (values > 0) {
    messages.note(about + counted(values, "value") + " of " + counted(counts.size(), "tensor") +
                  (values == 1 ? " was" : " were") +
                  " superseded by later ones; smd-tensor --with-superseded shows them");
    say_superseded(counts, messages);
  }
}

void say_superseded(const std::map<std::string, std::uint64_t>& counts, Diagnostics& messages) {
  for (const auto& [tensor, count] : counts) {
    messages.info(single_quoted(tensor) + ": " + counted(count, "value") + " superseded");
  }
}

EntryQuery query_for(const Selection& selection, const SelectionOptions& options) {
  EntryQuery query = entry_query(options, selection.tensors, selection.steps.steps);
  query.first_worker_only = false;
  query.arrivals = selection.arrivals;
  if (selection.every_step) {
    query.steps.reset();
  }
  return query;
}

}  // namespace smd::tool
