// SPDX-License-Identifier: Apache-2.0
#include "select/selection.hpp"

#include "cli/glob.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smd::tool {

namespace {

// For a glob in place of an exact name: the pattern to use, and how many tensors it selects.
std::string glob_for_name(const Trial& trial, std::string_view name) {
  const std::optional<std::string> regex = regex_of_glob(name);
  if (!regex) {
    return {};
  }
  const std::string pattern = regex->empty() ? "." : *regex;
  std::size_t found = 0;
  try {
    found = trial.tensor_names({.regex = {pattern}}).size();
  } catch (const Error&) {  // brackets that make sense in a name only
    return {};
  }
  return "; names are exact: -e " + single_quoted(pattern) + " selects " + counted(found, "tensor");
}

}  // namespace

std::optional<TensorQuery> tensor_query(const Trial& trial, const SelectionOptions& options) {
  TensorQuery query{.names = options.names, .regex = options.regexes, .exclude = options.excludes};
  std::copy_if(options.collections.begin(), options.collections.end(), std::back_inserter(query.collections),
               [&](const std::string& name) { return trial.collection(name).has_value(); });
  const bool any = !query.names.empty() || !query.regex.empty() || !query.collections.empty();
  return any || !options.selects_tensors() ? std::optional(std::move(query)) : std::nullopt;
}

std::vector<std::string> select_tensors(Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  SelectionOptions there = options;
  std::erase_if(there.names, [&](const std::string& name) { return !require_tensor(trial, name, messages); });
  for (const std::string& name : options.collections) {
    if (!trial.collection(name)) {
      messages.fail("NotFound", undefined_collection(name, trial), ExitStatus::no);
    }
  }
  if (options.selects_tensors() && !there.selects_tensors()) {
    return {};  // none of the names exists; without them everything would be selected
  }
  std::optional<TensorQuery> query = tensor_query(trial, there);
  if (!query) {
    return {};
  }
  if (std::find(options.modes.begin(), options.modes.end(), Mode::global) != options.modes.end()) {
    return trial.tensor_names(*query);
  }
  std::vector<std::string> result;
  for (const Mode mode : options.modes) {
    query->mode = mode;
    std::vector<std::string> names = trial.tensor_names(*query);
    result.insert(result.end(), std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<std::string> tensors_at(const Trial& trial, const SelectionOptions& options,
                                    const std::optional<GlobalStep>& step) {
  std::optional<TensorQuery> query = tensor_query(trial, options);
  if (!query) {
    return {};
  }
  query->step = step;
  query->mode = only_mode(options);
  return trial.tensor_names(*query);
}

std::string undefined_collection(std::string_view name, const Trial& trial) {
  const std::vector<std::string> names = trial.collection_names();
  const std::vector<std::string> nearest = nearest_names(name, names);
  return "collection " + single_quoted(name) + " is not defined" +
         (names.empty()     ? "; there are none"
          : nearest.empty() ? "; there are " + quoted_list(names)
                            : did_you_mean(nearest));
}

bool require_tensor(Trial& trial, std::string_view name, Diagnostics& messages) {
  if (trial.has_tensor(name)) {
    return true;
  }
  trial.load_range(StepRange());
  try {
    [[maybe_unused]] const Tensor tensor = trial.tensor(name);
    return true;
  } catch (const TensorUnavailable& error) {
    if (std::find(error.nearest.begin(), error.nearest.end(), name) != error.nearest.end()) {
      const bool all = trial.superseded().contains(std::string(name));
      messages.fail("TensorUnavailable",
                    all ? "all values of " + single_quoted(name) + " are superseded; --superseded shows them"
                        : "no value of " + single_quoted(name) + " is superseded",
                    ExitStatus::no);
      return false;
    }
    std::string hint = glob_for_name(trial, name);
    if (hint.empty()) {
      hint = did_you_mean(error.nearest);
    }
    messages.fail("TensorUnavailable", single_quoted(name) + " was not saved" + as_far_as_read(trial) + hint,
                  ExitStatus::no);
    return false;
  }
}

std::size_t steps_worth_reading(const Trial& trial) {
  return trial.layout().marks_steps ? trial.listed_steps().size() : 0;
}

bool partly_unread(const Trial& trial) {
  const std::vector<Problem> problems = trial.problems();
  return std::any_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.kind == ProblemKind::access_denied || problem.kind == ProblemKind::io ||
           problem.kind == ProblemKind::network || problem.kind == ProblemKind::stopped;
  });
}

std::string as_far_as_read(const Trial& trial) { return partly_unread(trial) ? ", as far as it can be read" : ""; }

bool check_worker(const Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  if (!options.worker) {
    return true;
  }
  std::vector<std::string> workers = trial.workers();
  std::vector<std::string> writers = trial.writers();
  workers.insert(workers.end(), std::make_move_iterator(writers.begin()), std::make_move_iterator(writers.end()));
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  if (std::binary_search(workers.begin(), workers.end(), *options.worker)) {
    return true;
  }
  messages.fail("InvalidWorker",
                "there is no worker " + single_quoted(*options.worker) + "; workers: " + quoted_list(workers),
                ExitStatus::no);
  return false;
}

void say_nothing_selected(Diagnostics& messages) {
  if (messages.status() == ExitStatus::yes) {
    messages.nothing("TensorUnavailable",
                     "nothing is selected: no tensor saved is among those asked for; smd-ls lists them");
  }
  messages.raise(ExitStatus::no);
}

void say_no_step_selected(std::string_view trial, Diagnostics& messages, std::string_view saved) {
  messages.nothing("StepUnavailable", std::string(trial) +
                                          ": nothing is selected: no step saved is among those asked for; " +
                                          (saved.empty() ? std::string() : "saved: " + std::string(saved) + "; ") +
                                          "smd-ls --steps lists them");
}

std::string without_modes(const Trial& trial, Mode asked) {
  const std::string words = asked == Mode::train  ? "train|training|trn"
                            : asked == Mode::eval ? "eval|evaluation|val|valid|validation|test|holdout|dev"
                                                  : std::string(mode_text(asked));
  std::vector<std::string> names = trial.tensor_names({.regex = {"(?i)(?<![a-z])(?:" + words + ")(?![a-z])"}});
  const bool of_side = !names.empty();
  if (!of_side) {
    names = trial.tensor_names();
  }
  return "the steps of this trial have no modes" +
         (names.empty() ? std::string()
                        : (of_side ? "; tensor names show them, such as " : "; tensor names may show them; there is ") +
                              single_quoted(names.front())) +
         "; -n and -e select by name";
}

bool check_modes(const Trial& trial, std::span<const Mode> modes, Diagnostics& messages) {
  if (trial.layout().has_modes || std::find(modes.begin(), modes.end(), Mode::global) != modes.end()) {
    return true;
  }
  messages.fail("StepUnavailable", trial.name() + ": " + without_modes(trial, modes.front()), ExitStatus::no);
  return false;
}

std::optional<Mode> only_mode(const SelectionOptions& options) noexcept {
  const bool one = options.modes.size() == 1 && options.modes.front() != Mode::global;
  return one ? std::optional(options.modes.front()) : std::nullopt;
}

EntryQuery entry_query(const SelectionOptions& options, std::vector<std::string> tensors,
                       std::span<const SelectedStep> steps) {
  EntryQuery query;
  query.tensors = std::move(tensors);
  query.steps.emplace();
  for (const SelectedStep& step : steps) {
    query.steps->push_back(step.step);
  }
  if (options.worker) {
    query.workers.push_back(*options.worker);
  }
  query.mode = only_mode(options);
  query.first_worker_only = !options.worker && !options.all_workers;
  query.include_incomplete = options.incomplete;
  return query;
}

}  // namespace smd::tool
