// SPDX-License-Identifier: Apache-2.0
#include "value_selection.hpp"

#include "cli/text.hpp"
#include "rows/buckets.hpp"
#include "select/select.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace smd::tool::tensor {

namespace {

// Reads more and more of the trial, from its end, until `enough` holds or all is read.
template <class Enough>
void read_back_until(Trial& trial, Enough&& enough) {
  if (enough()) {
    return;
  }
  const std::size_t listed = steps_worth_reading(trial);
  for (std::size_t count = 16; !enough(); count *= 8) {
    if (count >= listed) {
      trial.load_range(StepRange());
      return;
    }
    trial.load_range(StepRange::newest(count));
  }
}

enum class Having : std::uint8_t { anything, value };

// Calls visit(entry) where a tensor was saved, by the worker asked for, until it returns false.
template <class Visit>
void for_each_own_step(const Trial& trial, const TensorOptions& options, const std::string& name, Having having,
                       bool incomplete, const Visit& visit) {
  EntryQuery query;
  query.tensors = {name};
  query.include_incomplete = incomplete;
  if (options.selection.worker) {
    query.workers = {*options.selection.worker};
  }
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    return (having == Having::value && shown_of(options, entry) == nullptr) || visit(entry);
  });
}

// Global steps at which a tensor was saved.
std::vector<GlobalStep> own_steps(const Trial& trial, const TensorOptions& options, const std::string& name,
                                  Having having, bool incomplete) {
  std::vector<GlobalStep> steps;
  const std::optional<Mode> mode = only_mode(options.selection);
  for_each_own_step(trial, options, name, having, incomplete, [&](const TensorEntry& entry) {
    if ((!mode || entry.mode == *mode) && (steps.empty() || steps.back() != entry.step)) {
      steps.push_back(entry.step);
    }
    return true;
  });
  return steps;
}

// Whether a tensor has any own steps, incomplete ones included.
bool has_own_steps(const Trial& trial, const TensorOptions& options, const std::string& name, Having having) {
  bool any = false;
  for_each_own_step(trial, options, name, having, true, [&](const TensorEntry&) {
    any = true;
    return false;
  });
  return any;
}

SavedForm form_of(const Trial& trial, const std::string& name) {
  SavedForm form = SavedForm::shape;
  EntryQuery query;
  query.tensors = {name};
  query.include_incomplete = true;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    form = std::max(form, tensor::form_of(entry));
    return form != SavedForm::reductions;
  });
  return form;
}

// `reductions`: their names, separated by commas.
std::string instead_of_values(const std::string& reductions, bool buckets) {
  return ", only reductions (" + reductions + "); try " +
         (reductions == buckets_name ? "--hist"
          : buckets                  ? "smd-reduce -r saved, or --hist for the histogram"
                                     : "smd-reduce -r saved");
}

// Reports what a named tensor has in place of values, or which workers saved it. All of the trial must have been read.
void report_without_values(const Trial& trial, const TensorOptions& options, const std::string& name,
                           Diagnostics& messages) {
  std::set<std::string, std::less<>> saved;
  std::set<std::string> workers;
  EntryQuery query;
  query.tensors = {name};
  query.include_incomplete = true;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    workers.emplace(entry.worker);
    for (const SavedReduction& reduction : entry.reductions) {
      saved.insert(reduction.name);
    }
    if (entry.shape) {
      saved.insert("shape");
    }
    return true;
  });
  if (options.selection.worker && !workers.contains(*options.selection.worker)) {
    const std::vector<std::string> names(workers.begin(), workers.end());
    messages.fail("InvalidWorker",
                  single_quoted(*options.selection.worker) + " did not save " + single_quoted(name) + "; there are " +
                      quoted_list(names),
                  ExitStatus::no);
    return;
  }
  std::string text = single_quoted(name) + ": no value was saved";
  const bool shape = saved.erase("shape") != 0;
  if (!saved.empty()) {
    std::string list;
    for (const std::string& reduction : saved) {
      list += (list.empty() ? "" : ", ") + reduction;
    }
    text += instead_of_values(list, saved.contains(buckets_name));
  } else if (shape) {
    text += ", only its shape; see smd-ls -l";
  }
  messages.fail("TensorUnavailableForStep", text, ExitStatus::no);
}

bool only_ranges(const StepSpec& spec) {
  return std::none_of(spec.terms().begin(), spec.terms().end(), [](const StepTerm& term) { return term.single; });
}

// Reports where a tensor was saved if ranges, which take what exists, found none of its steps. A mode without any of
// its steps was reported already.
void report_outside(const Trial& trial, const TensorOptions& options, const std::string& name,
                    const std::vector<GlobalStep>& steps, Diagnostics& messages) {
  std::vector<std::int64_t> numbers;
  for (const GlobalStep step : steps) {
    for (const Mode mode : options.selection.modes) {
      if (mode == Mode::global || trial.mode(step) == mode) {
        numbers.push_back(mode == Mode::global ? step.value : trial.mode_step(step).value_or(ModeStep()).value);
      }
    }
  }
  if (!numbers.empty()) {
    const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
    messages.fail("TensorUnavailableForStep",
                  single_quoted(name) + " was not saved in that range; it was at " + std::to_string(numbers.size()) +
                      (numbers.size() == 1 ? " step, " : " steps, ") + std::to_string(*least) + " to " +
                      std::to_string(*greatest),
                  ExitStatus::no);
  }
}

// The steps of one tensor, counted among its own.
std::vector<SelectedStep> steps_of(Trial& trial, const TensorOptions& options, const std::string& name,
                                   Diagnostics& messages) {
  const StepSpec spec = options.selection.steps.value_or(default_steps(options));
  // `last` is the last value, even if reductions were saved later. A step given by its number may hold nothing but
  // reductions, which is reported as such.
  const Having having = counts_from_end(spec) || spec.all() ? Having::value : Having::anything;
  if (counts_from_end(spec)) {
    read_back_until(trial, [&] { return has_own_steps(trial, options, name, having); });
    if (!has_own_steps(trial, options, name, having)) {
      report_without_values(trial, options, name, messages);
      return {};
    }
  } else if (spec.all() && !has_own_steps(trial, options, name, having)) {
    report_without_values(trial, options, name, messages);
    return {};
  }
  const StepSource source = [&](bool incomplete) { return own_steps(trial, options, name, having, incomplete); };
  std::vector<SelectedStep> steps = select_steps(trial, options.selection, spec, messages, source, name);
  if (steps.empty() && only_ranges(spec)) {
    trial.load_range(StepRange());  // all of its steps count, not those that the range needed
    report_outside(trial, options, name, source(options.selection.incomplete), messages);
  }
  return steps;
}

// Whether the step was asked for by its number alone.
bool asked_singly(const TensorOptions& options, const SelectedStep& step) {
  if (!options.selection.steps) {
    return false;
  }
  return std::any_of(
      options.selection.steps->terms().begin(), options.selection.steps->terms().end(), [&](const StepTerm& term) {
        return term.single && !term.oldest &&
               std::any_of(options.selection.modes.begin(), options.selection.modes.end(), [&](Mode mode) {
                 return term.number == (mode == Mode::global ? step.step.value : step.mode_step.value);
               });
      });
}

// Says why a tensor has no value at a step at which it was saved.
void report_missing_at(const Trial& trial, const TensorOptions& options, const std::string& name,
                       const SelectedStep& step, Diagnostics& messages) {
  std::vector<std::string> workers;
  std::string reductions;
  bool buckets = false;
  bool shape = false;
  EntryQuery query;
  query.tensors = {name};
  query.steps = {{step.step}};
  query.include_incomplete = true;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    workers.emplace_back(entry.worker);
    shape = shape || entry.shape;
    if (reductions.empty()) {
      for (const SavedReduction& reduction : entry.reductions) {
        reductions += (reductions.empty() ? "" : ", ") + reduction.name;
        buckets = buckets || reduction.name == buckets_name;
      }
    }
    return true;
  });
  const std::string place = single_quoted(name) + " at step " + std::to_string(step.step.value);
  const std::optional<std::string>& worker = options.selection.worker;
  if (workers.empty()) {
    messages.fail("TensorUnavailableForStep", place + ": not saved", ExitStatus::no);
  } else if (worker && std::find(workers.begin(), workers.end(), *worker) == workers.end()) {
    messages.fail("InvalidWorker", place + ": not saved by " + single_quoted(*worker) + "; by " + quoted_list(workers),
                  ExitStatus::no);
  } else {
    messages.fail("TensorUnavailableForStep",
                  place + ": no value was saved" +
                      (!reductions.empty() ? instead_of_values(reductions, buckets)
                       : shape             ? std::string(", only its shape; see smd-ls -l")
                                           : std::string()),
                  ExitStatus::no);
  }
}

}  // namespace

SavedForm form_of(const TensorEntry& entry) {
  const std::vector<SavedReduction>& saved = entry.reductions;
  return saved.empty()                                             ? SavedForm::shape
         : saved.size() == 1 && saved.front().name == buckets_name ? SavedForm::histogram
                                                                   : SavedForm::reductions;
}

StepSpec default_steps(const TensorOptions& options) {
  const bool curves = options.view == TensorViewKind::spark || options.view == TensorViewKind::pivot ||
                      (options.svg() && options.view == TensorViewKind::values);
  return curves ? StepSpec() : StepSpec::parse("last");
}

const Place* shown_of(const TensorOptions& options, const TensorEntry& entry) noexcept {
  if (entry.value) {
    return &*entry.value;
  }
  const SavedReduction* const buckets = options.view == TensorViewKind::hist ? saved_buckets(entry) : nullptr;
  return buckets != nullptr ? &buckets->place : nullptr;
}

SelectionNeeds selection_needs(const TensorOptions& options) {
  return {.fallback = default_steps(options),
          .counts = [&options](const TensorEntry& entry) { return shown_of(options, entry) != nullptr; }};
}

namespace {

// Whether tensors that were named are wanted at all their steps, where each step is complete: then there is no need to
// know which they are.
bool takes_every_own_step(const Trial& trial, const TensorOptions& options) {
  const SelectionOptions& selection = options.selection;
  return !trial.layout().marks_steps && selection.regexes.empty() && selection.collections.empty() &&
         selection.every == 1 && selection.modes == std::vector{Mode::global} &&
         selection.steps.value_or(default_steps(options)).all();
}

// Selects tensors that were named: each by itself, with its own steps. Reports what is missing of each.
std::vector<std::string> select_named(Trial& trial, const TensorOptions& options, ValueSelection& result,
                                      Diagnostics& messages) {
  const std::vector<std::string>& names = options.selection.names;
  read_back_until(trial, [&] {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return trial.has_tensor(name); });
  });
  SelectionOptions of_names = options.selection;
  of_names.modes = {Mode::global};  // a mode in which a named tensor was not saved is reported, not filtered out
  of_names.regexes.clear();
  of_names.collections.clear();
  std::vector<std::string> tensors = select_tensors(trial, of_names, messages);
  if (result.every_step) {
    std::erase_if(tensors, [&](const std::string& name) {
      const bool none = !has_own_steps(trial, options, name, Having::value);
      if (none) {
        report_without_values(trial, options, name, messages);
      }
      result.named.try_emplace(name);
      return none;
    });
    return tensors;
  }
  for (const std::string& name : tensors) {
    const std::vector<SelectedStep> chosen = steps_of(trial, options, name, messages);
    result.steps.add(name, chosen);
    result.named[name].chosen = chosen;
  }
  return tensors;
}

// Tensors that patterns, collections or nothing at all select; those that were named as well are left to
// `select_named`.
std::vector<std::string> select_others(Trial& trial, const TensorOptions& options, ValueSelection& result,
                                       Diagnostics& messages) {
  SelectionOptions others = options.selection;
  others.names.clear();
  const std::vector<std::string>& names = options.selection.names;
  if (!names.empty()) {
    // If they select nothing beside the names, the steps were reported for the names.
    for (const StepRange& range :
         ranges_to_read(others.steps.value_or(default_steps(options)), options.selection.modes)) {
      trial.load_range(range);
    }
    if (tensors_at(trial, others, std::nullopt).empty()) {
      return select_tensors(trial, others, messages);
    }
  }
  Selection selection = select(trial, others, selection_needs(options), messages);
  std::erase_if(selection.tensors,
                [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); });
  const bool from_end = counts_from_end(others.steps.value_or(default_steps(options)));
  for (const std::string& name : selection.tensors) {
    if (from_end && !selection.steps.own.contains(name) && !has_own_steps(trial, options, name, Having::value)) {
      result.without_values.emplace(name, form_of(trial, name));
    }
  }
  if (names.empty()) {
    result.steps = std::move(selection.steps);
    return std::move(selection.tensors);
  }
  for (const std::string& name : selection.tensors) {
    std::vector<SelectedStep> steps = selection.steps.steps;
    std::erase_if(steps, [&](const SelectedStep& step) { return !selection.steps.wants(name, step.step); });
    result.steps.add(name, steps);
  }
  return std::move(selection.tensors);
}

}  // namespace

ValueSelection select_values(Trial& trial, const TensorOptions& options, Diagnostics& messages) {
  ValueSelection result;
  const SelectionOptions& selection = options.selection;
  if (selection.names.empty()) {
    result.tensors = select_others(trial, options, result, messages);
    return result;
  }
  if ((trial.layout().marks_steps || !trial.last_complete_step()) && trial.listed_steps().empty()) {
    report_no_step(trial, messages);
    return result;
  }
  if (!check_worker(trial, selection, messages)) {
    return result;
  }
  result.every_step = takes_every_own_step(trial, options);
  result.tensors = select_named(trial, options, result, messages);
  if (!selection.regexes.empty() || !selection.collections.empty()) {
    std::vector<std::string> others = select_others(trial, options, result, messages);
    result.tensors.insert(result.tensors.end(), std::make_move_iterator(others.begin()),
                          std::make_move_iterator(others.end()));
    std::sort(result.tensors.begin(), result.tensors.end());
  }
  if (result.tensors.empty() && messages.status() == ExitStatus::yes) {
    (void)select_steps(trial, selection, default_steps(options), messages);  // says more of a missing mode or step
  }
  result.steps.sort();
  return result;
}

void report_missing(const Trial& trial, const TensorOptions& options, const ValueSelection& selection,
                    Diagnostics& messages) {
  for (const auto& [name, tensor] : selection.named) {
    std::vector<GlobalStep> there = tensor.found;
    std::sort(there.begin(), there.end());
    auto place = there.begin();
    for (const SelectedStep& step : tensor.chosen) {  // ascending too: a history may have very many steps
      place = std::find_if(place, there.end(), [&](GlobalStep other) { return other >= step.step; });
      const bool found = place != there.end() && *place == step.step;
      if (!found && (tensor.found.empty() || asked_singly(options, step))) {
        report_missing_at(trial, options, name, step, messages);
        if (tensor.found.empty()) {
          break;  // once for all of them
        }
      }
    }
  }
}

}  // namespace smd::tool::tensor
