// SPDX-License-Identifier: Apache-2.0
// When a configuration saves, and HookConfig::add_collection: joins two collections of one name into one that saves
// what either saves.
#include <smd/hook_config.hpp>

#include "text/mapped.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace smd {
namespace {

std::size_t place(Mode mode) noexcept { return static_cast<std::size_t>(mode) - 1; }

void append_new(std::vector<std::string>& list, std::vector<std::string>& more) {
  for (std::string& item : more) {
    detail::add_once(list, std::move(item));
  }
}

/// Returns whether the range is empty, so that only `save_steps` are saved.
bool without_range(const SaveConfigMode& config) { return config.end_step && *config.end_step <= config.start_step; }

/// Saves at every step at which `a` or `b` does. Ranges that differ become one that contains both.
SaveConfigMode either(SaveConfigMode a, SaveConfigMode b) {
  a.save_steps.insert(a.save_steps.end(), b.save_steps.begin(), b.save_steps.end());
  detail::sort_each_once(a.save_steps);
  if (without_range(b)) {
    return a;
  }
  if (without_range(a)) {
    b.save_steps = std::move(a.save_steps);
    return b;
  }
  a.save_interval = std::gcd(a.save_interval, b.save_interval);
  a.start_step = std::min(a.start_step, b.start_step);
  a.end_step = a.end_step && b.end_step ? std::optional(std::max(*a.end_step, *b.end_step)) : std::nullopt;
  return a;
}

ReductionConfig both(ReductionConfig a, ReductionConfig b) {
  a.save_raw_tensor = a.save_raw_tensor || b.save_raw_tensor;
  a.save_shape = a.save_shape || b.save_shape;
  append_new(a.reductions, b.reductions);
  return a;
}

}  // namespace

bool should_save_step(const SaveConfigMode& config, std::int64_t step) noexcept {
  if (detail::contains(config.save_steps, step)) {
    return true;
  }
  return config.save_interval > 0 && step >= config.start_step && (!config.end_step || step < *config.end_step) &&
         step % config.save_interval == 0;
}

SaveConfig::SaveConfig(const SaveConfigMode& all) { modes_.fill(all); }

SaveConfig::SaveConfig(const std::map<Mode, SaveConfigMode>& modes, const SaveConfigMode& fallback)
    : SaveConfig(fallback) {
  for (const auto& [mode, config] : modes) {
    modes_.at(place(mode)) = config;
  }
}

const SaveConfigMode& SaveConfig::mode(Mode mode) const noexcept { return modes_[place(mode)]; }

std::map<Mode, SaveConfigMode> SaveConfig::modes() const {
  std::map<Mode, SaveConfigMode> all;
  for (const Mode each : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    all.emplace(each, mode(each));
  }
  return all;
}

void HookConfig::add_collection(CollectionConfig more) {
  const auto at = std::ranges::find(collections, more.name, &CollectionConfig::name);
  if (at == collections.end()) {
    collections.push_back(std::move(more));
    return;
  }
  append_new(at->tensor_names, more.tensor_names);
  append_new(at->include_regex, more.include_regex);
  // A setting that one of them lacks is the hook's; if both lack it, it stays unset.
  if (at->reduction_config != more.reduction_config) {
    const ReductionConfig of_hook = reduction_config.value_or(ReductionConfig{.save_raw_tensor = true});
    at->reduction_config = both(at->reduction_config.value_or(of_hook), more.reduction_config.value_or(of_hook));
  }
  for (const auto& [mode, of_hook] : save_config.modes()) {
    if (at->save_config.contains(mode) || more.save_config.contains(mode)) {
      SaveConfigMode& config = at->save_config.try_emplace(mode, of_hook).first->second;
      config = either(config, more.save_config.try_emplace(mode, of_hook).first->second);
    }
  }
  if (at->save_histogram != more.save_histogram) {
    const bool of_hook = save_histogram.value_or(true);
    at->save_histogram = at->save_histogram.value_or(of_hook) || more.save_histogram.value_or(of_hook);
  }
}

}  // namespace smd
