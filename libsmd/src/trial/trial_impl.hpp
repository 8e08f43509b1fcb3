// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial/trial_state.hpp"

#include <smd/trial.hpp>

namespace smd {

struct Trial::Impl final : detail::trial::TrialState {
  using TrialState::TrialState;
};

}  // namespace smd
