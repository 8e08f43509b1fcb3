// SPDX-License-Identifier: Apache-2.0
#include <smd/refresh.hpp>

#include "trial/trial_impl.hpp"

namespace smd {

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) NoRefreshInThread::Impl {
  explicit Impl(std::vector<const detail::trial::TrialState*> states) : still(std::move(states)) {}

  detail::trial::HoldStill still;
};

NoRefreshInThread::NoRefreshInThread(std::span<const Trial* const> trials) {
  std::vector<const detail::trial::TrialState*> states;
  states.reserve(trials.size());
  for (const Trial* const trial : trials) {
    states.push_back(&detail::TrialAccess::state(*trial));
  }
  impl_ = std::make_unique<Impl>(std::move(states));
}
NoRefreshInThread::~NoRefreshInThread() = default;

}  // namespace smd
