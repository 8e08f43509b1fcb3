// SPDX-License-Identifier: Apache-2.0
#include <smd/last_written.hpp>

#include "trial/trial_impl.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace smd {

std::optional<std::chrono::system_clock::time_point> last_written(const Trial& trial) {
  detail::trial::TrialState& state = detail::TrialAccess::state(trial);
  std::optional<std::chrono::system_clock::time_point> newest;
  for (const std::string_view folder : state.layout().folders()) {
    auto written = state.storage().newest_below(folder);
    if (!written) {
      state.notice(std::move(written.problem()));
      return std::nullopt;
    }
    newest = std::max(newest, *written);
  }
  return newest;
}

}  // namespace smd
