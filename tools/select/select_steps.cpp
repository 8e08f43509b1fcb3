// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"
#include "select/nothing_selected.hpp"
#include "select/repeated_steps.hpp"
#include "select/selection.hpp"

#include <smd/snapshot.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace smd::tool {

namespace {

/// Steps to choose from, in one mode: `numbers[i]` is what the mode calls `steps[i]`; ascending by number.
struct Candidates {
  std::vector<std::int64_t> numbers;
  std::vector<GlobalStep> steps;
};

class StepSelector {
 public:
  StepSelector(Trial& trial, const SelectionOptions& options, const StepSpec& spec, Diagnostics& messages,
               StepSource source, std::string_view tensor)
      : trial_(trial),
        options_(options),
        spec_(spec),
        messages_(messages),
        source_(std::move(source)),
        tensor_(tensor) {}

  std::vector<SelectedStep> select() {
    if (trial_.listed_steps().empty()) {
      report_no_step(trial_, messages_);
      return {};
    }
    read_what_is_needed();
    std::vector<SelectedStep> chosen;
    bool told = false;
    for (const Mode mode : options_.modes) {
      Candidates candidates = candidates_in(mode, options_.incomplete);
      if (candidates.steps.empty()) {
        trial_.load_range(StepRange());
        const Candidates all = candidates_in(mode, options_.incomplete);
        if (all.steps.empty()) {
          tell_nothing_there(mode);
          told = true;
          continue;
        }
      }
      const StepChoice choice = spec_.choose(candidates.numbers);
      for (const std::size_t index : choice.indices) {
        const GlobalStep step = candidates.steps[index];
        chosen.push_back(mode == Mode::global ? SelectedStep{step, trial_.mode(step).value_or(Mode::global),
                                                             trial_.mode_step(step).value_or(ModeStep(step.value))}
                                              : SelectedStep{step, mode, ModeStep(candidates.numbers[index])});
        note_repeated(trial_, mode, ModeStep(candidates.numbers[index]), messages_);
      }
      if (!choice.indices.empty() && asks_for_last(spec_)) {
        note_saved_since(trial_, mode, candidates.steps[choice.indices.back()], steps_from_source(options_.incomplete),
                         messages_);
      }
      for (const StepTerm* term : choice.missing) {
        tell_missing(mode, *term);
        told = true;
      }
    }
    std::stable_sort(chosen.begin(), chosen.end(),
                     [](const SelectedStep& a, const SelectedStep& b) { return a.step < b.step; });
    chosen.erase(std::unique(chosen.begin(), chosen.end(),
                             [](const SelectedStep& a, const SelectedStep& b) { return a.step == b.step; }),
                 chosen.end());
    std::vector<SelectedStep> result;
    const auto every = static_cast<std::uint64_t>(options_.every);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (i % every == 0) {
        result.push_back(chosen[i]);
      }
    }
    if (result.empty() && !told) {
      if (tensor_.empty()) {
        say_no_step_selected(trial_.name(), messages_,
                             messages_.shows(Level::warning) ? all_steps_and_modes(trial_) : std::string());
      }
      messages_.raise(ExitStatus::no);
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<GlobalStep> steps_from_source(bool incomplete) const {
    return source_ ? source_(incomplete) : trial_.steps(incomplete);
  }

  Candidates candidates_in(Mode mode, bool incomplete) const {
    const std::vector<GlobalStep> steps = steps_from_source(incomplete);
    Candidates result;
    if (mode == Mode::global) {
      result.steps = steps;
      for (const GlobalStep step : steps) {
        result.numbers.push_back(step.value);
      }
      return result;
    }
    // A job restarted without its checkpoint counts its mode steps anew: only the first global step counts.
    for (const ModeStep number : trial_.steps(mode, true)) {
      const std::optional<GlobalStep> step = trial_.global_step(mode, number);
      if (step && std::binary_search(steps.begin(), steps.end(), *step)) {
        result.numbers.push_back(number.value);
        result.steps.push_back(*step);
      }
    }
    return result;
  }

  /// Whether, as far as was read, no mode step can have been claimed before.
  [[nodiscard]] bool counts_never_began_anew() const {
    return std::all_of(options_.modes.begin(), options_.modes.end(), [&](Mode mode) {
      if (mode == Mode::global) {
        return true;
      }
      const Candidates candidates = candidates_in(mode, true);
      return !candidates.numbers.empty() && candidates.numbers.back() == candidates.steps.back().value;
    });
  }

  // Whether each mode has at least `count` steps, so that counting from an end is certain.
  bool enough(std::size_t count) const {
    return std::all_of(options_.modes.begin(), options_.modes.end(), [&](Mode mode) {
      const Candidates candidates = candidates_in(mode, options_.incomplete);
      return candidates.numbers.size() >= count;
    });
  }

  // The trial was opened with at least what `range_to_read` returns for the whole SPEC. There index files count by
  // their names alone; here only complete steps of the mode (and of the tensor) count.
  void read_what_is_needed() {
    if (spec_.all()) {
      return;
    }
    const StepNeed need = spec_.need();
    if (need.kind == StepNeed::Kind::windows) {
      const std::vector<StepRange> ranges = ranges_to_read(spec_, options_.modes);
      for (std::size_t i = 1; i < ranges.size(); ++i) {
        trial_.load_range(ranges[i]);
      }
    } else if (need.kind != StepNeed::Kind::everything) {
      const std::size_t listed = steps_worth_reading(trial_);
      std::size_t read = need.count;
      while (read < listed && !enough(need.count)) {
        read = std::max<std::size_t>(2 * read, 16);
        trial_.load_range(need.kind == StepNeed::Kind::newest ? StepRange::newest(read) : StepRange::oldest(read));
      }
      if (!counts_never_began_anew()) {
        trial_.load_range(StepRange());
      }
    }
  }

  // Call it when everything was read.
  void tell_nothing_there(Mode mode) {
    if (mode != Mode::global && !trial_.layout().has_modes) {
      messages_.fail("StepUnavailable", without_modes(trial_, mode), ExitStatus::no);
      return;
    }
    const std::vector<Mode> saved = trial_.modes();
    if (mode != Mode::global && std::find(saved.begin(), saved.end(), mode) == saved.end()) {
      std::string names;
      for (const Mode other : saved) {
        names += (names.empty() ? "" : ", ") + std::string(mode_text(other));
      }
      messages_.fail("StepUnavailable",
                     "no step was saved in mode " + std::string(mode_text(mode)) + as_far_as_read(trial_) +
                         (names.empty() ? std::string("; steps were saved without a mode") : "; modes saved: " + names),
                     ExitStatus::no);
      return;
    }
    const Candidates incomplete = candidates_in(mode, true);
    const std::string where = mode == Mode::global ? std::string() : " in mode " + std::string(mode_text(mode));
    if (!incomplete.steps.empty()) {
      messages_.fail("StepNotYetAvailable",
                     subject() + "no step" + where + " is complete; --incomplete shows those there are",
                     ExitStatus::no);
    } else if (!tensor_.empty() && options_.worker) {
      messages_.fail(
          "InvalidWorker",
          single_quoted(*options_.worker) + " did not save " + single_quoted(tensor_) + " at any step" + where,
          ExitStatus::no);
    } else if (!tensor_.empty()) {
      messages_.fail("TensorUnavailableForStep",
                     single_quoted(tensor_) + not_saved_in(trial_, mode, source_(true)) + as_far_as_read(trial_),
                     ExitStatus::no);
    } else {
      messages_.fail("StepUnavailable", "no step" + where + " can be read", ExitStatus::no);
    }
  }

  [[nodiscard]] std::string subject() const { return tensor_.empty() ? std::string() : single_quoted(tensor_) + ": "; }

  void tell_missing(Mode mode, const StepTerm& term) {
    trial_.load_range(StepRange());
    const Candidates all = candidates_in(mode, options_.incomplete);
    const std::string kind = mode == Mode::global ? "step " : std::string(mode_text(mode)) + " step ";
    if (term.number < 0 || term.oldest) {
      messages_.fail("StepUnavailable",
                     subject() + "there is no " + kind + term.text + ": " + std::to_string(all.numbers.size()) +
                         (all.numbers.size() == 1 ? " step was saved" : " steps were saved"),
                     ExitStatus::no);
      return;
    }
    const std::string name = kind + std::to_string(term.number);
    const std::string others = modes_that_have(trial_, mode, term.number);
    const Candidates trial_wide = source_ ? trial_candidates(mode) : all;
    const std::string_view tag = TrialSnapshot::last(trial_).unavailable_tag({mode, ModeStep(term.number)});
    const bool chosen_from =
        std::binary_search(trial_wide.numbers.begin(), trial_wide.numbers.end(), term.number);  // --incomplete
    if (!tag.empty() && !chosen_from) {
      const Candidates incomplete = candidates_in(mode, true);
      const std::string last =
          trial_wide.numbers.empty() ? "" : ": the last is " + std::to_string(trial_wide.numbers.back());
      std::string text = subject() + name;
      if (std::binary_search(incomplete.numbers.begin(), incomplete.numbers.end(), term.number)) {
        text += " is not complete yet; --incomplete shows it";
      } else if (tag == "StepNotYetAvailable") {
        text += " is not saved yet" + last + others;
      } else if (tag == "NoMoreData") {
        text += " never came, the job has ended" + as_far_as_read(trial_) + last + others;
      } else {
        text += " was not saved" + as_far_as_read(trial_) + nearest_steps(all.numbers, term.number) + others;
      }
      messages_.fail(tag, text, ExitStatus::no);
      return;
    }
    const auto at = std::lower_bound(trial_wide.numbers.begin(), trial_wide.numbers.end(), term.number);
    const bool of_tensor = !tensor_.empty() && at != trial_wide.numbers.end() && *at == term.number;
    if (of_tensor && options_.worker) {
      const GlobalStep step = trial_wide.steps[static_cast<std::size_t>(at - trial_wide.numbers.begin())];
      if (const std::vector<std::string> workers = workers_that_saved(step); !workers.empty()) {
        messages_.fail("InvalidWorker",
                       single_quoted(tensor_) + " at " + name + ": not saved by " + single_quoted(*options_.worker) +
                           "; by " + quoted_list(workers),
                       ExitStatus::no);
        return;
      }
    }
    const std::string text =
        of_tensor ? single_quoted(tensor_) + " was not saved at " + name : subject() + name + " was not saved";
    messages_.fail(of_tensor ? "TensorUnavailableForStep" : "StepUnavailable",
                   text + as_far_as_read(trial_) + nearest_steps(all.numbers, term.number) + others, ExitStatus::no);
  }

  /// The workers that saved the tensor at a step, by name.
  [[nodiscard]] std::vector<std::string> workers_that_saved(GlobalStep step) const {
    std::vector<std::string> workers;
    EntryQuery query;
    query.tensors = {std::string(tensor_)};
    query.steps = {{step}};
    query.include_incomplete = true;
    trial_.for_each_entry(query, [&](const TensorEntry& entry) {
      workers.emplace_back(entry.worker);
      return true;
    });
    return workers;
  }

  Candidates trial_candidates(Mode mode) const {
    return StepSelector(trial_, options_, spec_, messages_, {}, {}).candidates_in(mode, options_.incomplete);
  }

  Trial& trial_;
  const SelectionOptions& options_;
  const StepSpec& spec_;
  Diagnostics& messages_;
  StepSource source_;
  std::string_view tensor_;
};

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
  std::string list;
  for (const auto& [kind, count] : kinds) {
    list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
  }
  return ", but " + counted(others.size(), "record") + (others.size() == 1 ? " is no tensor (" : " are no tensors (") +
         list + "); smd-ls --locations -v lists " + (others.size() == 1 ? "it" : "them");
}

}  // namespace

void report_no_step(const Trial& trial, Diagnostics& messages, ExitStatus status) {
  const std::vector<Problem> problems = trial.problems();
  const auto growing = std::find_if(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.kind == ProblemKind::not_yet && !problem.file.empty();
  });
  if (partly_unread(trial)) {
    messages.fail("StepUnavailable", trial.name() + ": no step can be read", status);
  } else if (growing != problems.end()) {
    messages.fail("StepNotYetAvailable", trial.name() + ": no step saved yet; " + to_string(*growing), status);
  } else if (trial.ended()) {
    messages.fail("NoMoreData", trial.name() + ": no step was saved" + instead_of_tensors(trial), status);
  } else {
    messages.fail("StepNotYetAvailable", trial.name() + ": no step saved yet", status);
  }
}

std::string nearest_steps(std::span<const std::int64_t> numbers, std::int64_t wanted) {
  const auto above = std::upper_bound(numbers.begin(), numbers.end(), wanted);
  std::string text;
  if (above != numbers.begin()) {
    text += std::to_string(*std::prev(above));
  }
  if (above != numbers.end()) {
    text += (text.empty() ? "" : " and ") + std::to_string(*above);
  }
  return text.empty() ? text : "; nearest: " + text;
}

std::string modes_that_have(const Trial& trial, Mode asked, std::int64_t number) {
  std::string names;
  const auto has = [&](Mode mode) { return mode != asked && trial.global_step(mode, ModeStep(number)); };
  for (const Mode mode : trial.modes()) {
    if (has(mode)) {
      names += (names.empty() ? "" : ", ") + std::string(mode_text(mode));
    }
  }
  // Not "in mode global": the trial may have saved nothing without a mode.
  const std::string global = has(Mode::global) ? "a global step " + std::to_string(number) : "";
  if (names.empty()) {
    return global.empty() ? global : "; there is " + global;
  }
  return "; there is a step " + std::to_string(number) + " in mode " + names +
         (global.empty() ? "" : ", and " + global);
}

std::vector<SelectedStep> select_steps(Trial& trial, const SelectionOptions& options, const StepSpec& fallback,
                                       Diagnostics& messages, const StepSource& source, std::string_view tensor) {
  const StepSpec& spec = options.steps ? *options.steps : fallback;
  return StepSelector(trial, options, spec, messages, source, tensor).select();
}

}  // namespace smd::tool
