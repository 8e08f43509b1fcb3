// SPDX-License-Identifier: Apache-2.0
#include <smd/collection.hpp>

#include <algorithm>
#include <cstddef>

namespace smd {

bool SaveConfigMode::should_save_step(std::int64_t step) const noexcept {
  if (std::ranges::find(save_steps, step) != save_steps.end()) {
    return true;
  }
  return save_interval > 0 && step >= start_step && (!end_step || step < *end_step) && step % save_interval == 0;
}

namespace {

std::size_t place(Mode mode) noexcept { return static_cast<std::size_t>(mode) - 1; }

}  // namespace

SaveConfig::SaveConfig(const SaveConfigMode& all) { modes_.fill(all); }

SaveConfig::SaveConfig(const std::map<Mode, SaveConfigMode>& modes, const SaveConfigMode& fallback)
    : SaveConfig(fallback) {
  for (const auto& [mode, config] : modes) {
    modes_.at(place(mode)) = config;
  }
}

const SaveConfigMode& SaveConfig::mode(Mode mode) const noexcept { return modes_[place(mode)]; }

void SaveConfig::set_mode(Mode mode, const SaveConfigMode& config) { modes_.at(place(mode)) = config; }

std::map<Mode, SaveConfigMode> SaveConfig::modes() const {
  std::map<Mode, SaveConfigMode> all;
  for (const Mode each : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    all.emplace(each, mode(each));
  }
  return all;
}

}  // namespace smd
