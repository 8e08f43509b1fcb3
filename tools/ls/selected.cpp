// SPDX-License-Identifier: Apache-2.0
#include "selected.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "select/explanations.hpp"

namespace smd::tool::ls {
std::vector<std::string> saved_names(Trial& trial, const Selection& selection, const SelectionOptions& options,
                                     Diagnostics& messages) {
  std::vector<std::string> names = selection.every_tensor ? trial.tensor_names() : selection.tensors;
  if (selection.every_step && selection.every_worker) {
    return names;
  }
  std::vector<bool> seen(names.size(), false);
  std::size_t missing = names.size();
  trial.for_each_entry(query_for(selection, options), [&](const TensorEntry& entry) {
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
    bytes += reduction.place.length;
  }
  return bytes;
}

std::vector<StepInfo> saved_steps(const Trial& trial, const Selection& selection, const SelectionOptions& options) {
  std::vector<StepInfo> infos = trial.step_infos();
  if (!selection.every_step) {
    std::erase_if(infos, [&](const StepInfo& info) { return !selection.steps.has(info.step); });
  }
  narrow(infos, trial, selection, options);
  return infos;
}

void narrow(std::vector<StepInfo>& infos, const Trial& trial, const Selection& selection,
            const SelectionOptions& options) {
  if (const std::optional<Mode> mode = only_mode(options)) {
    for (StepInfo& info : infos) {
      info.mode_step = trial.mode_step(info.step, *mode).value_or(info.mode_step);
      info.mode = *mode;
    }
  }
  if (!selection.narrows_entries()) {
    return;
  }
  for (StepInfo& info : infos) {
    info.tensors = 0;
    info.workers.clear();
    info.bytes = 0;
  }
  auto info = infos.begin();
  std::string_view last;
  trial.for_each_entry(query_for(selection, options), [&](const TensorEntry& entry) {
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
