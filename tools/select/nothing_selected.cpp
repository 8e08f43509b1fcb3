// SPDX-License-Identifier: Apache-2.0
#include "select/nothing_selected.hpp"

#include "cli/glob.hpp"
#include "cli/text.hpp"
#include "tensor_steps.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace smd::tool {

namespace {

SelectedStep numbers_of(const Trial& trial, GlobalStep step) {
  return {step, trial.mode(step).value_or(Mode::global), trial.mode_step(step).value_or(ModeStep(step.value))};
}

// The literal characters of a pattern: `conv.weight` of `^conv\.weight$`.
std::string literal_of(std::string_view pattern) {
  std::string literal;
  for (const char character : pattern) {
    if (std::string_view("^$\\()[]{}?*+|").find(character) == std::string_view::npos) {
      literal += character;
    }
  }
  return literal;
}

// Names similar to a pattern, else parts of names similar to it: a pattern matches anywhere.
std::vector<std::string> nearest_to_pattern(std::string_view pattern, const std::vector<std::string>& names) {
  const std::string literal = literal_of(pattern);
  std::vector<std::string> nearest = nearest_names(literal, names);
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
  return nearest_names(literal, std::vector<std::string>(parts.begin(), parts.end()));
}

class Explanation {
 public:
  Explanation(Trial& trial, const SelectionOptions& options) : trial_(trial), options_(options) {
    trial_.load_range(StepRange());
    names_ = trial_.tensor_names();
  }

  NothingSelected make() {
    const std::optional<TensorQuery> query = tensor_query(trial_, options_);
    tensors_ = query ? trial_.tensor_names(*query) : std::vector<std::string>();
    return tensors_.empty() ? no_tensor(query.value_or(TensorQuery{.exclude = options_.excludes})) : other_steps();
  }

 private:
  NothingSelected no_tensor(TensorQuery query) const {
    std::string text;
    for (const std::string& regex : options_.regexes) {
      if (trial_.tensor_names({.regex = {regex}}).empty()) {
        const std::string glob = glob_for_regex(regex);
        text += "; no tensor matches " + single_quoted(regex) +
                (glob.empty() ? did_you_mean(nearest_to_pattern(regex, names_))
                              : ", which" + glob.substr(single_quoted(regex).size()));
      }
    }
    for (const std::string& name : query.collections) {
      if (trial_.tensor_names({.collections = {name}}).empty()) {
        text += "; no tensor of collection " + single_quoted(name) + " was saved";
      }
    }
    query.exclude.clear();
    const std::size_t matching = trial_.tensor_names(query).size();
    if (matching > 0 && !options_.excludes.empty()) {
      text += "; -x drops " + (matching == 1 ? "the only tensor" : "all " + counted(matching, "tensor")) +
              (options_.selects_tensors() ? " selected" : "");
    }
    const bool one = names_.size() == 1;
    return {"TensorUnavailable", (text.empty() ? "no tensor is among those asked for" : text.substr(2)) +
                                     as_far_as_read(trial_) + "; " + counted(names_.size(), "tensor") +
                                     (one ? " was saved, smd-ls lists it" : " were saved, smd-ls lists them")};
  }

  /// Whether a SPEC that gives steps by their numbers includes the step of an entry.
  [[nodiscard]] bool is_asked_for(const TensorEntry& entry) const {
    if (!options_.steps || counts_from_end(*options_.steps)) {
      return false;
    }
    return std::any_of(options_.modes.begin(), options_.modes.end(), [&](Mode mode) {
      const std::int64_t number = mode == Mode::global ? entry.step.value : entry.mode_step.value;
      return (mode == Mode::global || mode == entry.mode) &&
             !options_.steps->choose(std::span(&number, 1)).indices.empty();
    });
  }

  NothingSelected other_steps() const {
    std::vector<SelectedStep> steps;
    bool complete = false;
    std::set<std::string, std::less<>> workers;
    EntryQuery query;
    query.tensors = tensors_;
    query.include_incomplete = true;
    std::vector<GlobalStep> complete_steps = trial_.steps();
    std::set<std::string, std::less<>> at_steps_asked;
    trial_.for_each_entry(query, [&](const TensorEntry& entry) {
      workers.emplace(entry.worker);
      if (options_.worker && is_asked_for(entry)) {
        at_steps_asked.emplace(entry.worker);
      }
      if (options_.worker && entry.worker != *options_.worker) {
        return true;
      }
      if (steps.empty() || steps.back().step != entry.step) {
        steps.push_back(numbers_of(trial_, entry.step));
        complete = complete || std::binary_search(complete_steps.begin(), complete_steps.end(), entry.step);
      }
      return true;
    });
    const bool one = tensors_.size() == 1;
    const std::string subject = one ? single_quoted(tensors_.front()) : counted(tensors_.size(), "tensor") + " match";
    const std::string were = one ? " was" : ", but were";
    if (steps.empty()) {
      const std::vector<std::string> names(workers.begin(), workers.end());
      return {"InvalidWorker", subject + were + " not saved by " + single_quoted(options_.worker.value_or("")) +
                                   "; by " + quoted_list(names)};
    }
    if (!at_steps_asked.empty() && !at_steps_asked.contains(*options_.worker)) {
      const std::vector<std::string> names(at_steps_asked.begin(), at_steps_asked.end());
      return {"InvalidWorker", subject + were + " not saved by " + single_quoted(*options_.worker) +
                                   " at the steps asked for; by " + quoted_list(names)};
    }
    if (!complete && !options_.incomplete) {
      return {"StepNotYetAvailable", subject + were + " saved at " + steps_and_modes(steps) +
                                         ", none of them complete; --incomplete shows them"};
    }
    return {"TensorUnavailableForStep", subject + were + " not saved at the steps asked for" + as_far_as_read(trial_) +
                                            "; saved at " + steps_and_modes(steps)};
  }

  Trial& trial_;
  const SelectionOptions& options_;
  std::vector<std::string> names_;
  std::vector<std::string> tensors_;
};

std::string range_of(std::span<const std::int64_t> numbers) {
  const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());
  return std::to_string(*least) + (*least == *greatest ? "" : " to " + std::to_string(*greatest));
}

std::string count_and_range(std::span<const std::int64_t> numbers) {
  return counted(numbers.size(), "step") + ", " + range_of(numbers);
}

}  // namespace

NothingSelected why_nothing(Trial& trial, const SelectionOptions& options) {
  return Explanation(trial, options).make();
}

void say_nothing_selected(Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  if (messages.status() == ExitStatus::yes && messages.shows(Level::warning)) {
    const NothingSelected why = why_nothing(trial, options);
    messages.nothing(why.tag, "nothing is selected: " + why.text);
  }
  messages.raise(ExitStatus::no);
}

std::string steps_and_modes(std::span<const SelectedStep> steps) {
  if (steps.empty()) {
    return {};
  }
  std::vector<std::int64_t> numbers;
  std::string modes;
  for (const SelectedStep& step : steps) {
    numbers.push_back(step.step.value);
  }
  for (const Mode mode : {Mode::train, Mode::eval, Mode::predict}) {
    std::vector<std::int64_t> of_mode;
    for (const SelectedStep& step : steps) {
      if (step.mode == mode) {
        of_mode.push_back(step.mode_step.value);
      }
    }
    if (!of_mode.empty()) {
      modes += (modes.empty() ? "" : "; ") + std::string(mode_text(mode)) +
               (of_mode.size() == numbers.size() ? " " + range_of(of_mode) : ": " + count_and_range(of_mode));
    }
  }
  return count_and_range(numbers) + (modes.empty() ? "" : " (" + modes + ")");
}

std::string all_steps_and_modes(Trial& trial) {
  trial.load_range(StepRange());
  std::vector<SelectedStep> steps;
  for (const GlobalStep step : trial.steps(true)) {
    steps.push_back(numbers_of(trial, step));
  }
  return steps_and_modes(steps);
}

}  // namespace smd::tool
