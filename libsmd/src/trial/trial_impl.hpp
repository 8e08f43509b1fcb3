// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial/trial_state.hpp"

#include <smd/trial.hpp>

namespace smd {

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) Trial::Impl final : detail::trial::TrialState {
  using TrialState::TrialState;
};

/// Access to a trial's internals, for other parts of the library and tests.
struct detail::TrialAccess {
  /// Opens a trial with a clock, a storage and a layout of the caller's choice.
  [[nodiscard]] static Trial open(const std::string& path, const TrialOptions& options,
                                  const trial::Environment& environment) {
    return Trial(std::make_shared<Trial::Impl>(path, options, environment));
  }
  [[nodiscard]] static trial::TrialState& state(const Trial& trial) noexcept { return *trial.impl_; }
  [[nodiscard]] static std::shared_ptr<trial::TrialState> shared_state(const Trial& trial) { return trial.impl_; }
};

}  // namespace smd
