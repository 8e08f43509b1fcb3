// SPDX-License-Identifier: Apache-2.0
#include <smd/hook_config.hpp>

#include <algorithm>

namespace smd {

bool should_save_step(const SaveConfigMode& config, std::int64_t step) noexcept {
  if (std::ranges::find(config.save_steps, step) != config.save_steps.end()) {
    return true;
  }
  return config.save_interval > 0 && step >= config.start_step && (!config.end_step || step < *config.end_step) &&
         step % config.save_interval == 0;
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

std::map<Mode, SaveConfigMode> SaveConfig::modes() const {
  std::map<Mode, SaveConfigMode> all;
  for (const Mode each : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    all.emplace(each, mode(each));
  }
  return all;
}

}  // namespace smd
