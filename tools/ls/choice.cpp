// SPDX-License-Identifier: Apache-2.0
#include "choice.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "select/nothing_selected.hpp"

namespace smd::tool::ls {
namespace {

/// Whether the options leave out steps that are complete.
bool narrows_steps(const SelectionOptions& options) {
  const bool all_modes = std::find(options.modes.begin(), options.modes.end(), Mode::global) != options.modes.end();
  return !all_modes || (options.steps && !options.steps->all()) || options.every > 1;
}

/// Without select_steps, where it would return all that is there: it works step by step.
bool takes_every_step(const Trial& trial, const SelectionOptions& options) {
  if (narrows_steps(options)) {
    return false;
  }
  const std::size_t known = trial.steps(true).size();
  return known != 0 && (options.incomplete || trial.steps(false).size() == known);
}

}  // namespace

bool every_claim_fits(const Trial& trial, std::span<const GlobalStep> steps, const SelectionOptions& options) {
  const std::optional<Mode> mode = only_mode(options);
  if (!mode) {
    return true;
  }
  const std::vector<Mode> modes = trial.modes();
  return std::all_of(steps.begin(), steps.end(), [&](GlobalStep step) {
    return std::none_of(modes.begin(), modes.end(),
                        [&](Mode other) { return other != *mode && trial.mode_step(step, other); });
  });
}

std::optional<Choice> choose(Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  Choice choice;
  choice.every_worker = !options.worker.has_value();
  choice.every_tensor = !options.selects_tensors() && options.excludes.empty();
  choice.every_step = takes_every_step(trial, options);
  if (!choice.every_step) {
    for (const SelectedStep& step : select_steps(trial, options, StepSpec(), messages)) {
      choice.steps.push_back(step.step);
    }
    if (choice.steps.empty()) {
      return std::nullopt;
    }
    choice.every_claim = every_claim_fits(trial, choice.steps, options);
  }
  if (!check_worker(trial, options, messages)) {
    return std::nullopt;
  }
  if (!choice.every_tensor) {
    choice.tensors = select_tensors(trial, options, messages);
    if (choice.tensors.empty()) {
      return std::nullopt;
    }
  }
  return choice;
}

EntryQuery query_for(const Choice& choice, const SelectionOptions& options) {
  EntryQuery query;
  query.tensors = choice.tensors;
  if (!choice.every_step) {
    query.steps = choice.steps;
  }
  if (options.worker) {
    query.workers = {*options.worker};
  }
  query.mode = only_mode(options);
  query.include_incomplete = options.incomplete;
  return query;
}

std::vector<std::string> saved_names(Trial& trial, const Choice& choice, const SelectionOptions& options,
                                     Diagnostics& messages) {
  std::vector<std::string> names = choice.every_tensor ? trial.tensor_names() : choice.tensors;
  if (choice.every_step && choice.every_worker) {
    return names;
  }
  std::vector<bool> seen(names.size(), false);
  std::size_t missing = names.size();
  trial.for_each_entry(query_for(choice, options), [&](const TensorEntry& entry) {
    const auto place = std::lower_bound(names.begin(), names.end(), entry.tensor);
    if (place != names.end() && *place == entry.tensor) {
      const auto index = static_cast<std::size_t>(place - names.begin());
      missing -= seen[index] ? 0 : 1;
      seen[index] = true;
    }
    return missing != 0;  // the rest could add nothing
  });
  std::vector<std::string> saved;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (seen[i]) {
      saved.push_back(std::move(names[i]));
    } else if (std::find(options.names.begin(), options.names.end(), names[i]) != options.names.end()) {
      SelectionOptions of_name;
      of_name.names = {names[i]};
      of_name.worker = options.worker;
      of_name.incomplete = options.incomplete;
      const NothingSelected why = why_nothing(trial, of_name);
      messages.fail(why.tag, why.text, ExitStatus::no);
    }
  }
  return saved;
}

std::uint64_t record_bytes(const TensorEntry& entry) noexcept {
  std::uint64_t bytes = entry.value ? entry.value->length : 0;
  for (const SavedReduction& reduction : entry.reductions) {
    bytes += reduction.location.length;
  }
  return bytes;
}

std::vector<StepInfo> saved_steps(const Trial& trial, const Choice& choice, const SelectionOptions& options) {
  std::vector<StepInfo> infos = trial.step_infos();
  if (!choice.every_step) {
    std::erase_if(infos, [&](const StepInfo& info) {
      return !std::binary_search(choice.steps.begin(), choice.steps.end(), info.step);
    });
  }
  narrow(infos, trial, choice, options);
  return infos;
}

void narrow(std::vector<StepInfo>& infos, const Trial& trial, const Choice& choice, const SelectionOptions& options) {
  if (const std::optional<Mode> mode = only_mode(options)) {
    for (StepInfo& info : infos) {
      info.mode_step = trial.mode_step(info.step, *mode).value_or(info.mode_step);
      info.mode = *mode;
    }
  }
  if (!choice.narrows_entries()) {
    return;
  }
  for (StepInfo& info : infos) {
    info.tensors = 0;
    info.workers.clear();
    info.bytes = 0;
  }
  auto info = infos.begin();
  std::string_view last;
  trial.for_each_entry(query_for(choice, options), [&](const TensorEntry& entry) {
    while (info != infos.end() && info->step < entry.step) {
      ++info;
    }
    if (info == infos.end()) {
      return false;
    }
    if (info->step != entry.step) {
      return true;
    }
    if (info->tensors == 0 || last != entry.tensor) {
      ++info->tensors;
      last = entry.tensor;
    }
    const auto place = std::lower_bound(info->workers.begin(), info->workers.end(), entry.worker);
    if (place == info->workers.end() || *place != entry.worker) {
      info->workers.insert(place, std::string(entry.worker));
    }
    info->bytes += record_bytes(entry);
    return true;
  });
  std::erase_if(infos, [](const StepInfo& step) { return step.tensors == 0; });
}

}  // namespace smd::tool::ls
