// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial/trial_state.hpp"

#include <smd/trial.hpp>

namespace smd {

/// Hidden: else it would be exported with its class.
struct __attribute__((visibility("hidden"))) Trial::Impl final : detail::trial::TrialState {
  using TrialState::TrialState;
};

/// What other parts of the library, and tests, see of a trial.
struct detail::TrialAccess {
  /// With a clock and a storage of the caller's choice.
  [[nodiscard]] static Trial open(const std::string& path, const TrialOptions& options,
                                  const trial::Environment& environment) {
    return Trial(std::make_shared<Trial::Impl>(path, options, environment));
  }
  [[nodiscard]] static trial::TrialState& state(const Trial& trial) noexcept { return *trial.impl_; }
  [[nodiscard]] static std::shared_ptr<trial::TrialState> shared_state(const Trial& trial) { return trial.impl_; }
};

}  // namespace smd
