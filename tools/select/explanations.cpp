// SPDX-License-Identifier: Apache-2.0
#include "select/explanations.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "select/saved_forms.hpp"
#include "select/trial_times.hpp"

#include <smd/snapshot.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace smd::tool {

std::string in_the_mode(Mode mode) {
  return mode == Mode::global ? std::string() : " in mode " + std::string(mode_text(mode));
}

std::string kind_of_step(Mode mode) { return mode == Mode::global ? "step" : std::string(mode_text(mode)) + " step"; }

namespace {

/// What the files hold in place of tensors: `, but 3 records are no tensors (2 graph, 1 hparams); …`.
std::string instead_of_tensors(const Trial& trial) {
  const std::vector<OtherValue> others = trial.other_values();
  if (others.empty()) {
    return {};
  }
  std::map<std::string, std::size_t> kinds;
  for (const OtherValue& value : others) {
    ++kinds[value.kind == "none" ? "without a value" : value.kind];
  }
  const std::string list =
      text::joined(kinds, ", ", [](const auto& kind) { return std::to_string(kind.second) + " " + kind.first; });
  const bool one = others.size() == 1;
  return fmt::format(", but {} {} ({}); smd-ls --locations -v lists {}", counted(others.size(), "record"),
                     one ? "is no tensor" : "are no tensors", list, one ? "it" : "them");
}

/// A step in its own mode.
SelectedStep own_numbers_of(const Trial& trial, GlobalStep step) {
  return {step, trial.mode(step).value_or(Mode::global), trial.mode_step(step).value_or(ModeStep(step.value))};
}

std::string text_of_range(std::span<const std::int64_t> numbers) {
  const auto [least, greatest] = std::ranges::minmax_element(numbers);
  return *least == *greatest ? std::to_string(*least) : fmt::format("{} to {}", *least, *greatest);
}

std::string count_and_range(std::span<const std::int64_t> numbers) {
  return counted(numbers.size(), "step") + ", " + text_of_range(numbers);
}

/// As `all_steps_and_modes`, of some steps in their own modes.
std::string steps_and_modes(std::span<const SelectedStep> steps) {
  if (steps.empty()) {
    return {};
  }
  std::vector<std::int64_t> numbers;
  std::map<Mode, std::vector<std::int64_t>> by_mode;  // in the order train, eval, predict
  for (const SelectedStep& step : steps) {
    numbers.push_back(step.step.value);
    by_mode[step.mode].push_back(step.mode_step.value);
  }
  by_mode.erase(Mode::global);
  std::string modes;
  for (const auto& [mode, own] : by_mode) {
    const std::string range = own.size() == numbers.size() ? " " + text_of_range(own) : ": " + count_and_range(own);
    append_part(modes, std::string(mode_text(mode)) + range, "; ");
  }
  return count_and_range(numbers) + (modes.empty() ? "" : " (" + modes + ")");
}

/// The global steps of a mode, ascending, whose mode steps an earlier global step has.
std::vector<GlobalStep> repeating_steps(const Trial& trial, Mode mode) {
  std::vector<GlobalStep> result;
  if (mode == Mode::global) {
    return result;
  }
  for (const ModeStep number : trial.steps(mode, true)) {
    const std::vector<GlobalStep> steps = trial.global_steps(mode, number);
    result.insert(result.end(), steps.begin() + 1, steps.end());
  }
  std::ranges::sort(result);
  return result;
}

/// Text to follow the name of a tensor that no step of the mode has: it was not saved, or only at steps that repeat an
/// earlier step's number. `own`: the steps at which it was saved.
std::string not_saved_in(const Trial& trial, Mode mode, std::span<const SelectedStep> own) {
  for (const GlobalStep step : repeating_steps(trial, mode)) {
    if (std::ranges::any_of(own, [&](const SelectedStep& saved) { return saved.step == step; })) {
      return fmt::format(
          " was saved{} only at steps that repeat an earlier step, and the earlier one is used; without -m, -s {} "
          "shows it",
          in_the_mode(mode), step.value);
    }
  }
  return " was not saved at any step" + in_the_mode(mode);
}

/// Returns the message for a mode asked of a trial whose steps have none. It gives a name, if possible one that shows
/// the mode.
std::string without_modes(const Trial& trial, Mode asked) {
  const std::string words = asked == Mode::train  ? "train|training|trn"
                            : asked == Mode::eval ? "eval|evaluation|val|valid|validation|test|holdout|dev"
                                                  : std::string(mode_text(asked));
  std::vector<std::string> names = trial.tensor_names({.regex = {"(?i)(?<![a-z])(?:" + words + ")(?![a-z])"}});
  if (names.empty()) {
    names = trial.tensor_names();
  }
  return "the steps of this trial have no modes; select by name instead" +
         (names.empty() ? "" : ", such as " + single_quoted(names.front()));
}

void say(Diagnostics& messages, std::string_view tag, std::string_view text) {
  messages.fail(tag, text, ExitStatus::no);
}

/// The tensor of a request in quotes; empty if it is of the trial.
std::string quoted_tensor(const StepRequest& request) {
  return request.tensors.empty() ? std::string() : single_quoted(request.tensors.front());
}

// Names similar to a pattern, else parts of names similar to it: a pattern matches anywhere.
std::vector<std::string> nearest_to_pattern(std::string_view pattern, const std::vector<std::string>& names) {
  std::string literal(pattern);  // without what is no literal: `conv.weight` of `^conv\.weight$`
  std::erase_if(literal, [](char c) { return std::string_view("^$\\()[]{}?*+|").find(c) != std::string_view::npos; });
  std::vector<std::string> nearest = detail::nearest(literal, names);
  if (!nearest.empty()) {
    return nearest;
  }
  std::set<std::string> parts;
  for (const std::string& name : names) {
    for (std::size_t at = 0; at <= name.size();) {
      const std::size_t end = std::min(name.find_first_of("/.:_", at), name.size());
      parts.insert(name.substr(at, end - at));
      at = end + 1;
    }
  }
  return detail::nearest(literal, std::vector<std::string>(parts.begin(), parts.end()));
}

NothingSelected no_tensor(const Trial& trial, const SelectionOptions& options, TensorQuery query) {
  const std::vector<std::string> names = trial.tensor_names();
  std::string text;
  for (const std::string& regex : options.regexes) {
    if (trial.tensor_names({.regex = {regex}}).empty()) {
      const std::string glob = glob_for_regex(regex);
      text += "; no tensor matches " + single_quoted(regex) +
              (glob.empty() ? did_you_mean(nearest_to_pattern(regex, names))
                            : ", which" + glob.substr(single_quoted(regex).size()));
    }
  }
  for (const std::string& name : query.collections) {
    if (trial.tensor_names({.collections = {name}}).empty()) {
      text += "; no tensor of collection " + single_quoted(name) + " was saved";
    }
  }
  query.exclude.clear();
  const std::size_t matching = trial.tensor_names(query).size();
  if (matching > 0 && !options.excludes.empty()) {
    text += "; -x drops " + (matching == 1 ? "the only tensor" : "all " + counted(matching, "tensor")) +
            (options.selects_tensors() ? " selected" : "");
  }
  return {"TensorUnavailable",
          fmt::format("{}{}; {} {}", text.empty() ? "no tensor is among those asked for" : text.substr(2),
                      as_far_as_read(trial), counted(names.size(), "tensor"),
                      names.size() == 1 ? "was saved, smd-ls lists it" : "were saved, smd-ls lists them")};
}

/// Whether a SPEC that gives steps by their numbers includes the step of an entry.
bool is_asked_for(const SelectionOptions& options, const TensorEntry& entry) {
  if (!options.steps || counts_from_end(*options.steps)) {
    return false;
  }
  return std::ranges::any_of(options.modes, [&](Mode mode) {
    const std::int64_t number = mode == Mode::global ? entry.step.value : entry.mode_step.value;
    return (mode == Mode::global || mode == entry.mode) &&
           !options.steps->choose(std::span(&number, 1)).indices.empty();
  });
}

NothingSelected other_steps(const Trial& trial, const SelectionOptions& options,
                            const std::vector<std::string>& tensors) {
  std::vector<SelectedStep> steps;
  bool complete = false;
  std::set<std::string, std::less<>> workers;
  const EntryQuery query = {.tensors = tensors, .include_incomplete = true};
  std::vector<GlobalStep> complete_steps = trial.steps();
  std::set<std::string, std::less<>> at_steps_asked;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    workers.emplace(entry.worker);
    if (options.worker && is_asked_for(options, entry)) {
      at_steps_asked.emplace(entry.worker);
    }
    if (options.worker && entry.worker != *options.worker) {
      return true;
    }
    if (steps.empty() || steps.back().step != entry.step) {
      steps.push_back(own_numbers_of(trial, entry.step));
      complete = complete || std::ranges::binary_search(complete_steps, entry.step);
    }
    return true;
  });
  const bool one = tensors.size() == 1;
  const std::string subject = one ? single_quoted(tensors.front()) : counted(tensors.size(), "tensor") + " match";
  const std::string were = one ? " was" : ", but were";
  if (steps.empty()) {
    return {"InvalidWorker", fmt::format("{} not saved by {}; by {}", subject + were,
                                         single_quoted(options.worker.value_or("")), quoted_list(workers))};
  }
  if (!at_steps_asked.empty() && !at_steps_asked.contains(*options.worker)) {
    return {"InvalidWorker", fmt::format("{} not saved by {} at the steps asked for; by {}", subject + were,
                                         single_quoted(*options.worker), quoted_list(at_steps_asked))};
  }
  if (!complete && !options.incomplete) {
    return {"StepNotYetAvailable", subject + were + " saved at " + steps_and_modes(steps) +
                                       ", none of them complete; --incomplete shows them"};
  }
  const std::string by = options.worker ? " by " + single_quoted(*options.worker) : "";
  return {"TensorUnavailableForStep", fmt::format("{} not saved{} at the steps asked for{}; saved at {}{}",
                                                  subject + were, by, as_far_as_read(trial), steps_and_modes(steps),
                                                  options.every > 1 ? "; --every counts all steps of the trial" : "")};
}

}  // namespace

bool partly_unread(const Trial& trial) {
  return std::ranges::any_of(trial.problems(), [](const Problem& problem) {
    return problem.kind == ProblemKind::access_denied || problem.kind == ProblemKind::io ||
           problem.kind == ProblemKind::network || problem.kind == ProblemKind::stopped;
  });
}

std::string as_far_as_read(const Trial& trial) { return partly_unread(trial) ? ", as far as it can be read" : ""; }

void report_no_step(const Trial& trial, Diagnostics& messages, ExitStatus status) {
  const std::vector<Problem> problems = trial.problems();
  const auto growing = std::ranges::find_if(
      problems, [](const Problem& problem) { return problem.kind == ProblemKind::not_yet && !problem.file.empty(); });
  if (partly_unread(trial)) {
    messages.fail("StepUnavailable", trial.name() + ": no step can be read", status);
  } else if (growing == problems.end() && trial.ended()) {
    messages.fail("NoMoreData", trial.name() + ": no step was saved" + instead_of_tensors(trial), status);
  } else {
    const std::string why = growing == problems.end() ? std::string() : "; " + to_string(*growing);
    messages.fail("StepNotYetAvailable", trial.name() + ": no step saved yet" + why, status);
  }
}

void say_no_step_in(Mode mode, const Trial& trial, const StepRequest& request, Diagnostics& messages) {
  const std::string tensor = quoted_tensor(request);
  const std::vector<Mode> saved = trial.modes();
  if (mode != Mode::global && !trial.layout().has_modes) {
    say(messages, "StepUnavailable", without_modes(trial, mode));
  } else if (mode != Mode::global && !contains(saved, mode)) {
    say(messages, "StepUnavailable",
        "no step was saved" + in_the_mode(mode) + as_far_as_read(trial) +
            (saved.empty() ? "; steps were saved without a mode"
                           : "; modes saved: " + text::joined(saved, ", ", mode_text)));
  } else if (!candidates_in(trial, request, mode, true).empty()) {
    say(messages, "StepNotYetAvailable",
        tensor + (tensor.empty() ? "" : ": ") + "no step" + in_the_mode(mode) +
            " is complete; --incomplete shows those there are");
  } else if (tensor.empty()) {
    say(messages, "StepUnavailable", "no step" + in_the_mode(mode) + " can be read");
  } else if (request.options.worker) {
    say(messages, "InvalidWorker",
        single_quoted(*request.options.worker) + " did not save " + tensor + " at any step" + in_the_mode(mode));
  } else {
    say(messages, "TensorUnavailableForStep",
        tensor + not_saved_in(trial, mode, candidates_in(trial, request, Mode::global, true)) + as_far_as_read(trial));
  }
}

void say_missing(Mode mode, const StepTerm& term, Trial& trial, const StepRequest& request, Diagnostics& messages) {
  trial.load_range(StepRange());
  const bool incomplete = request.options.incomplete;
  const std::vector<std::int64_t> numbers = numbers_of(candidates_in(trial, request, mode, incomplete));
  const std::string tensor = quoted_tensor(request);
  const std::string subject = tensor + (tensor.empty() ? "" : ": ");
  if (counts_from_end(term)) {
    say(messages, "StepUnavailable",
        fmt::format("{}there is no {} {}: {} saved", subject, kind_of_step(mode), term.text,
                    counted(numbers.size(), "step", "was", "were")));
    return;
  }
  const std::string name = kind_of_step(mode) + " " + std::to_string(term.number);
  const std::string others = modes_that_have(trial, mode, term.number, &request);
  const std::vector<SelectedStep> of_trial = candidates_in(trial, {.options = request.options}, mode, incomplete);
  const auto at =
      std::ranges::find_if(of_trial, [&](const SelectedStep& step) { return step.mode_step.value == term.number; });
  const std::string nearest = as_far_as_read(trial) + nearest_steps(numbers, term.number) + others;
  if (at == of_trial.end()) {
    const std::string_view tag = TrialSnapshot::last(trial).unavailable_tag({mode, ModeStep(term.number)});
    const std::vector<std::int64_t> all = numbers_of(candidates_in(trial, request, mode, true));
    const std::string last = of_trial.empty() ? "" : ": the last is " + std::to_string(of_trial.back().mode_step.value);
    std::string why = " was not saved" + nearest;
    if (!tag.empty() && std::ranges::binary_search(all, term.number)) {
      why = " is not complete yet; --incomplete shows it";
    } else if (tag == "StepNotYetAvailable") {
      why = " is not saved yet" + last + others;
    } else if (tag == "NoMoreData") {
      const bool ended = job_status(trial) == "ended";
      why = (ended ? " never came, the job has ended" : " was not saved") + as_far_as_read(trial) + last + others;
    }
    say(messages, tag.empty() ? "StepUnavailable" : tag, subject + name + why);
    return;
  }
  const SavedForms there = tensor.empty() ? SavedForms() : forms_of(trial, request.tensors.front(), at->step);
  if (request.options.worker && !there.workers.empty()) {
    say(messages, "InvalidWorker",
        fmt::format("{} at {}: not saved by {}; by {}", tensor, name, single_quoted(*request.options.worker),
                    quoted_list(there.workers)));
  } else {
    say(messages, tensor.empty() ? "StepUnavailable" : "TensorUnavailableForStep",
        (tensor.empty() ? name + " was not saved" : tensor + " was not saved at " + name) + nearest);
  }
}

void say_fewer_steps(Mode mode, const StepTerm& term, std::span<const std::string> tensors, std::size_t steps_of_first,
                     Diagnostics& messages) {
  say(messages, "StepUnavailable",
      fmt::format("there is no {} {} of {}: {}", kind_of_step(mode), term.text, quoted_list(tensors, 3),
                  tensors.size() == 1 ? "it was saved at " + counted(steps_of_first, "step")
                                      : "they were saved at fewer steps"));
}

void say_no_step_chosen(Trial& trial, const StepRequest& request, bool told, Diagnostics& messages) {
  const bool of_trial = request.tensors.empty();
  if (!told && of_trial) {
    say_no_step_selected(trial.name(), messages,
                         messages.shows(Level::warning) ? all_steps_and_modes(trial) : std::string());
  }
  messages.raise(ExitStatus::no);
  if (of_trial || std::ranges::any_of(request.spec.terms(), [](const StepTerm& term) { return term.single; })) {
    return;
  }
  trial.load_range(StepRange());  // all of its steps count, not those that the range needed
  std::vector<std::int64_t> numbers;
  for (const Mode mode : request.options.modes) {
    std::ranges::copy(numbers_of(candidates_in(trial, request, mode, request.options.incomplete)),
                      std::back_inserter(numbers));
  }
  if (!numbers.empty()) {
    const auto [least, greatest] = std::ranges::minmax_element(numbers);
    say(messages, "TensorUnavailableForStep",
        fmt::format("{} was not saved in that range; it was at {}, {} to {}", quoted_tensor(request),
                    counted(numbers.size(), "step"), *least, *greatest));
  }
}

void say_no_value(const Trial& trial, const SelectionOptions& options, const std::string& tensor,
                  const std::optional<GlobalStep>& step, Diagnostics& messages) {
  const SavedForms saved = forms_of(trial, tensor, step);
  const std::string place = single_quoted(tensor) + (step ? " at step " + std::to_string(step->value) : "");
  if (saved.workers.empty()) {
    say(messages, "TensorUnavailableForStep", place + ": not saved");
    return;
  }
  if (options.worker && !saved.workers.contains(*options.worker)) {
    const std::string worker = single_quoted(*options.worker);
    say(messages, "InvalidWorker",
        (step ? place + ": not saved by " + worker + "; by " : worker + " did not save " + place + "; there are ") +
            quoted_list(saved.workers));
    return;
  }
  std::string instead;
  if (!saved.reductions.empty()) {
    instead = fmt::format(", only reductions ({}); try {}", fmt::join(saved.reductions, ", "),
                          saved.only_buckets()                      ? "--hist"
                          : saved.reductions.contains(buckets_name) ? "smd-reduce -r saved, or --hist for the histogram"
                                                                    : "smd-reduce -r saved");
  } else if (saved.shape) {
    instead = ", only its shape; see smd-ls -l";
  }
  say(messages, "TensorUnavailableForStep", place + ": no value was saved" + instead);
}

void note_repeated(const Trial& trial, const SelectedStep& step, Diagnostics& messages) {
  if (step.mode == Mode::global) {
    return;
  }
  const std::vector<GlobalStep> steps = trial.global_steps(step.mode, step.mode_step);
  if (steps.size() < 2) {
    return;
  }
  messages.note(fmt::format(
      "{} {} was saved more than once: global step {} is used; without -m, -s {} shows the rest",
      kind_of_step(step.mode), step.mode_step.value, steps.front().value,
      text::joined(std::span(steps).subspan(1), ",", [](GlobalStep other) { return std::to_string(other.value); })));
}

void note_saved_since(const Trial& trial, Mode mode, GlobalStep last, std::span<const GlobalStep> own,
                      Diagnostics& messages) {
  std::vector<GlobalStep> steps = repeating_steps(trial, mode);
  std::erase_if(steps, [&](GlobalStep step) { return !std::ranges::binary_search(own, step); });
  if (!steps.empty() && steps.back() > last) {
    messages.note(fmt::format(
        "the highest {} is global step {}, but the job repeated step numbers after it; without -m, -s {} shows what it "
        "saved last",
        kind_of_step(mode), last.value, steps.back().value));
  }
}

std::string nearest_steps(std::span<const std::int64_t> numbers, std::int64_t wanted) {
  const auto above = std::ranges::upper_bound(numbers, wanted);
  std::string text = above == numbers.begin() ? "" : std::to_string(*std::prev(above));
  if (above != numbers.end()) {
    append_part(text, std::to_string(*above), " and ");
  }
  return text.empty() ? text : "; nearest: " + text;
}

std::string modes_that_have(const Trial& trial, Mode asked, std::int64_t number, const StepRequest* request) {
  const auto has = [&](Mode mode) {
    return mode != asked && trial.global_step(mode, ModeStep(number)) &&
           (request == nullptr || contains(numbers_of(candidates_in(trial, *request, mode, true)), number));
  };
  std::vector<Mode> modes = trial.modes();
  std::erase_if(modes, [&](Mode mode) { return !has(mode); });
  const std::string names = text::joined(modes, ", ", mode_text);
  // Not "in mode global": the trial may have saved nothing without a mode.
  const std::string global = has(Mode::global) ? "a global step " + std::to_string(number) : "";
  if (names.empty()) {
    return global.empty() ? global : "; there is " + global;
  }
  return "; there is a step " + std::to_string(number) + " in mode " + names +
         (global.empty() ? "" : ", and " + global);
}

std::string undefined_collection(std::string_view name, const Trial& trial) {
  const std::vector<std::string> names = trial.collection_names();
  const std::vector<std::string> nearest = detail::nearest(name, names);
  return "collection " + single_quoted(name) + " is not defined" +
         (names.empty()     ? "; there are none"
          : nearest.empty() ? "; there are " + quoted_list(names)
                            : did_you_mean(nearest));
}

void say_no_step_selected(std::string_view trial, Diagnostics& messages, std::string_view saved) {
  messages.nothing("StepUnavailable",
                   fmt::format("{}: nothing is selected: no step saved is among those asked for; {}{}{}smd-ls --steps "
                               "lists them",
                               trial, saved.empty() ? "" : "saved: ", saved, saved.empty() ? "" : "; "));
}

bool check_modes(const Trial& trial, std::span<const Mode> modes, Diagnostics& messages) {
  if (trial.layout().has_modes || contains(modes, Mode::global)) {
    return true;
  }
  say(messages, "StepUnavailable", trial.name() + ": " + without_modes(trial, modes.front()));
  return false;
}

NothingSelected why_nothing(Trial& trial, const SelectionOptions& options) {
  trial.load_range(StepRange());
  const std::optional<TensorQuery> query = tensor_query(trial, options);
  const std::vector<std::string> tensors = query ? trial.tensor_names(*query) : std::vector<std::string>();
  return tensors.empty() ? no_tensor(trial, options, query.value_or(TensorQuery{.exclude = options.excludes}))
                         : other_steps(trial, options, tensors);
}

void say_nothing_selected(Trial* trial, const SelectionOptions& options, Diagnostics& messages) {
  if (messages.status() == ExitStatus::yes && messages.shows(Level::warning)) {
    const NothingSelected why =
        trial != nullptr
            ? why_nothing(*trial, options)
            : NothingSelected{"TensorUnavailable", "no tensor saved is among those asked for; smd-ls lists them"};
    messages.nothing(why.tag, "nothing is selected: " + why.text);
  }
  messages.raise(ExitStatus::no);
}

std::string all_steps_and_modes(Trial& trial) {
  trial.load_range(StepRange());
  return steps_and_modes(mapped(trial.steps(true), [&](GlobalStep step) { return own_numbers_of(trial, step); }));
}

}  // namespace smd::tool
