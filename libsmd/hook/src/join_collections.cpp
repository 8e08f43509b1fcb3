// SPDX-License-Identifier: Apache-2.0
// HookConfig::add_collection: joins two collections of one name into one that saves what either saves.
#include <smd/hook_config.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace smd {
namespace {

void append_new(std::vector<std::string>& list, std::vector<std::string>& more) {
  for (std::string& item : more) {
    if (std::ranges::find(list, item) == list.end()) {
      list.push_back(std::move(item));
    }
  }
}

/// Returns whether the range is empty, so that only `save_steps` are saved.
bool without_range(const SaveConfigMode& config) { return config.end_step && *config.end_step <= config.start_step; }

/// Saves at every step at which `a` or `b` does. Ranges that differ become one that contains both.
SaveConfigMode either(SaveConfigMode a, const SaveConfigMode& b) {
  a.save_steps.insert(a.save_steps.end(), b.save_steps.begin(), b.save_steps.end());
  std::ranges::sort(a.save_steps);
  a.save_steps.erase(std::unique(a.save_steps.begin(), a.save_steps.end()), a.save_steps.end());
  if (without_range(b)) {
    return a;
  }
  if (without_range(a)) {
    a.save_interval = b.save_interval;
    a.start_step = b.start_step;
    a.end_step = b.end_step;
    return a;
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
  const std::map<Mode, SaveConfigMode> before = at->save_config;
  for (const auto& [mode, config] : before) {
    if (!more.save_config.contains(mode)) {
      at->save_config[mode] = either(config, save_config.mode(mode));
    }
  }
  for (const auto& [mode, config] : more.save_config) {
    const auto known = before.find(mode);
    at->save_config[mode] = either(known == before.end() ? save_config.mode(mode) : known->second, config);
  }
  if (at->save_histogram != more.save_histogram) {
    const bool of_hook = save_histogram.value_or(true);
    at->save_histogram = at->save_histogram.value_or(of_hook) || more.save_histogram.value_or(of_hook);
  }
}

}  // namespace smd
