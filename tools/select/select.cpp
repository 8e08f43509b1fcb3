// SPDX-License-Identifier: Apache-2.0
#include "select/select.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "select/explanations.hpp"

#include <smd/snapshot.hpp>

#include <algorithm>
#include <iterator>

namespace smd::tool {

namespace {

/// Whether select_steps, which works step by step, would return all steps there are.
bool takes_every_step(const Trial& trial, const SelectionOptions& options) {
  if (!contains(options.modes, Mode::global) || (options.steps && !options.steps->all()) || options.every > 1) {
    return false;  // steps that are complete are left out
  }
  const std::optional<GlobalStep> last = trial.last_complete_step();
  const TrialSnapshot snapshot = TrialSnapshot::last(trial);
  const std::size_t known = snapshot.num_steps_up_to(GlobalStep(INT64_MAX));
  return known != 0 && (options.incomplete || (last && snapshot.num_steps_up_to(*last) == known));
}

/// Whether all workers that wrote these steps claim the mode asked for, if it is one.
bool every_claim_fits(const Trial& trial, std::span<const SelectedStep> steps, const SelectionOptions& options) {
  const std::optional<Mode> mode = only_mode(options);
  if (!mode) {
    return true;
  }
  const std::vector<Mode> modes = trial.modes();
  return std::ranges::all_of(steps, [&](const SelectedStep& step) {
    return std::ranges::none_of(modes, [&](Mode other) { return other != *mode && trial.mode_step(step.step, other); });
  });
}

/// Whether a list of all tensors may stay empty: nothing narrows them, and there are none that must be named.
bool takes_every_tensor(const Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs) {
  const bool hides = trial.layout().has_system && trial.collection("system").has_value();
  return !needs.lists && !options.selects_tensors() && options.excludes.empty() && !hides;
}

/// Reads from the newest step back until it is known that all these tensors exist.
void read_until_known(Trial& trial, const std::vector<std::string>& names) {
  read_until(trial, {.kind = StepNeed::Kind::newest, .count = 1, .windows = {}}, [&](std::size_t) {
    return std::ranges::all_of(names, [&](const std::string& name) { return trial.has_tensor(name); });
  });
}

/// Selects tensors that were named, each with its own steps.
void select_named(Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs, Selection& selection,
                  Diagnostics& messages) {
  const StepSpec spec = options.steps.value_or(needs.fallback);
  read_until_known(trial, options.names);
  SelectionOptions names = options;
  names.regexes.clear();
  names.collections.clear();
  selection.named = select_tensors(trial, names, messages);
  selection.tensors = selection.named;
  // Tensors that were named may be wanted at all their steps, where each step is complete: then there is no need to
  // know which they are.
  selection.every_step = !trial.layout().marks_steps && options.regexes.empty() && options.collections.empty() &&
                         options.every == 1 && options.modes == std::vector{Mode::global} && spec.all();
  if (selection.every_step) {
    std::erase_if(selection.tensors, [&](const std::string& name) {
      const bool none = !has_candidates(trial, options, name, needs.counts);
      if (none) {
        say_no_value(trial, options, name, std::nullopt, messages);
      }
      return none;
    });
    return;
  }
  // `last` is the last value, even if reductions were saved later. A step given by its number may hold nothing but
  // reductions, which is reported as such.
  const bool of_entries = counts_from_end(spec) || spec.all();
  selection.steps = choose_steps(trial,
                                 {.options = options,
                                  .spec = spec,
                                  .tensors = selection.tensors,
                                  .counts = of_entries ? needs.counts : [](const TensorEntry&) { return true; }},
                                 &messages);
}

/// Adds what patterns and collections select beside the tensors that were named.
void add_others(Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs, Selection& selection,
                Diagnostics& messages) {
  SelectionOptions others = options;
  others.names.clear();
  for (const StepRange& range : ranges_to_read(options.steps.value_or(needs.fallback), options.modes)) {
    trial.load_range(range);
  }
  if (tensors_at(trial, others, std::nullopt).empty()) {
    (void)select_tensors(trial, others, messages);  // the steps were reported for the names
    return;
  }
  const Selection more = select(trial, others, needs, messages);
  std::vector<std::string> tensors;
  std::set_difference(more.tensors.begin(), more.tensors.end(), selection.named.begin(), selection.named.end(),
                      std::back_inserter(tensors));
  for (const std::string& name : tensors) {
    if (const std::vector<SelectedStep> steps = more.steps.of(name); !steps.empty()) {
      selection.steps.add(name, steps);
    }
  }
  selection.tensors.insert(selection.tensors.end(), tensors.begin(), tensors.end());
  std::ranges::sort(selection.tensors);
  selection.steps.sort();
}

}  // namespace

Selection select(Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs, Diagnostics& messages) {
  Selection selection;
  selection.every_worker = !options.worker;
  if (needs.own_steps_of_names && !options.names.empty()) {
    if (!trial.last_complete_step() && trial.listed_steps().empty()) {
      report_no_step(trial, messages);
      return selection;
    }
    if (!check_worker(trial, options, messages)) {
      return selection;
    }
    select_named(trial, options, needs, selection, messages);
    if (!options.regexes.empty() || !options.collections.empty()) {
      add_others(trial, options, needs, selection, messages);
    }
    if (selection.tensors.empty() && messages.status() == ExitStatus::yes) {
      (void)select_steps(trial, options, needs.fallback, messages);  // says more of a missing mode or step
    }
    return selection;
  }
  const StepSpec& spec = options.steps ? *options.steps : needs.fallback;
  if (needs.counts && counts_from_end(spec) && !trial.listed_steps().empty()) {
    // Which steps there are depends on the tensors, and on the worker that saved them.
    if (!check_worker(trial, options, messages)) {
      return selection;
    }
    read_until_known(trial, options.names);
    selection.tensors = select_tensors(trial, options, messages);
    if (!selection.tensors.empty()) {
      selection.steps = select_steps_of_tensors(trial, options, spec, selection.tensors, needs.counts, &messages);
    }
    const auto is_empty = [&](Mode mode) { return trial.steps(mode, true).empty(); };
    if (messages.status() == ExitStatus::yes &&
        (selection.tensors.empty() || std::ranges::all_of(options.modes, is_empty))) {
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

std::vector<std::pair<std::int64_t, std::string>> superseded_entries(const Trial& trial,
                                                                     const SelectionOptions& options,
                                                                     const StepSpec& fallback) {
  std::vector<std::pair<std::int64_t, std::string>> entries;
  std::optional<TensorQuery> tensors = tensor_query(trial, options);
  if (!tensors) {
    return entries;
  }
  tensors->superseded = true;
  EntryQuery query = entry_query(options, trial.tensor_names(*tensors), {});
  if (query.tensors.empty()) {
    return entries;
  }
  query.steps.reset();
  query.superseded = true;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    entries.emplace_back(entry.step.value, entry.tensor);
    return true;
  });
  std::ranges::sort(entries);
  const StepSpec spec = options.steps.value_or(fallback);
  const auto steps = mapped(entries, &std::pair<std::int64_t, std::string>::first);
  return mapped((counts_from_end(spec) ? StepSpec() : spec).choose(steps).indices,
                [&](std::size_t i) { return std::move(entries[i]); });
}

void note_superseded(const Trial& trial, const SelectionOptions& options, const StepSpec& fallback,
                     const ReadingOptions& reading, Diagnostics& messages, const std::string& about) {
  if (reading.superseded != Superseded::left_out || !messages.shows(Level::warning)) {
    return;
  }
  const auto entries = superseded_entries(trial, options, fallback);
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [step, tensor] : entries) {
    ++counts[tensor];
  }
  if (!counts.empty()) {
    messages.note(about + superseded_note(entries.size(), counts.size()));
    say_superseded(counts, messages);
  }
}

std::string superseded_note(std::uint64_t values, std::size_t tensors) {
  return counted(values, "value") + " of " + counted(tensors, "tensor") + (values == 1 ? " was" : " were") +
         " superseded by later ones; smd-tensor --with-superseded shows them";
}

void say_superseded(const std::map<std::string, std::uint64_t>& counts, Diagnostics& messages) {
  for (const auto& [tensor, count] : counts) {
    messages.info(single_quoted(tensor) + ": " + counted(count, "value") + " superseded");
  }
}

std::string incomplete_steps(const Trial& trial, const std::vector<Mode>& modes, const StepSpec& spec) {
  const bool all_modes = contains(modes, Mode::global);
  const TrialSnapshot snapshot = TrialSnapshot::last(trial);
  const auto counts = [&](const SnapshotStep& step) { return all_modes || contains(modes, step.mode); };
  const auto number_of = [&](const SnapshotStep& step) { return all_modes ? step.step.value : step.mode_step.value; };
  std::string text = snapshot.incomplete_text(counts);
  if (text.empty() || spec.all()) {
    return text;
  }
  std::vector<StepTerm> ranges = spec.terms();
  std::erase_if(ranges, [](const StepTerm& term) { return term.single; });  // of these an error tells
  std::set<std::int64_t> numbers;
  for (const SnapshotStep& step : snapshot.steps()) {
    if (counts(step)) {
      numbers.insert(number_of(step));
    }
  }
  const std::vector<std::int64_t> saved(numbers.begin(), numbers.end());
  std::set<std::int64_t> chosen;
  for (const std::size_t i : ranges.empty() ? std::vector<std::size_t>() : StepSpec(ranges).choose(saved).indices) {
    chosen.insert(saved[i]);
  }
  return snapshot.incomplete_text(
      [&](const SnapshotStep& step) { return counts(step) && chosen.contains(number_of(step)); });
}

void note_incomplete(const Trial& trial, const Selection& selection, const SelectionOptions& options,
                     const StepSpec& fallback, Diagnostics& messages) {
  const StepSpec spec = options.steps.value_or(fallback);
  if (selection.empty() || options.incomplete || counts_from_end(spec) || TrialSnapshot::last(trial).ended()) {
    return;
  }
  if (const std::string left_out = incomplete_steps(trial, options.modes, spec); !left_out.empty()) {
    messages.note_once(left_out + "; --incomplete reads what there is");
  }
}

EntryQuery entry_query(const SelectionOptions& options, std::vector<std::string> tensors,
                       std::span<const SelectedStep> steps) {
  return {.tensors = std::move(tensors),
          .steps = mapped(steps, &SelectedStep::step),
          .mode = only_mode(options),
          .workers = options.workers(),
          .first_worker_only = !options.worker && !options.all_workers,
          .include_incomplete = options.incomplete};
}

EntryQuery entry_query(const SelectionOptions& options, const Selection& selection) {
  EntryQuery query = entry_query(options, selection.tensors, selection.steps.steps);
  query.arrivals = selection.arrivals;
  if (selection.every_step) {
    query.steps.reset();
  }
  return query;
}

EntryQuery query_for(const Selection& selection, const SelectionOptions& options) {
  EntryQuery query = entry_query(options, selection);
  query.first_worker_only = false;
  return query;
}

}  // namespace smd::tool
