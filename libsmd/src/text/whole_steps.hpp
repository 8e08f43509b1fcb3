// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <ratio>
#include <vector>

namespace smd::detail {

/// Up to which step all has come to a trial that grows and whose layout does not mark steps: another file may still
/// bring lower ones. A step is whole once a later one has come, and nothing up to it for `rest`.
class WholeSteps {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds rest{10};

  void came(GlobalStep step, Time now) {
    // Rounded up, so that few times differ, however many steps come.
    const Time rounded = std::chrono::ceil<std::chrono::duration<Time::rep, std::deci>>(now);
    const auto later = std::ranges::lower_bound(quiet_, step, {}, &Quiet::step);
    const Quiet here{step, later == quiet_.end() ? rounded : later->since};
    const Quiet last{later == quiet_.end() ? step : quiet_.back().step, rounded};
    quiet_.erase(later, quiet_.end());
    for (const Quiet& one : {here, last}) {
      if (!quiet_.empty() && quiet_.back().since == one.since) {
        quiet_.back().step = one.step;
      } else if (quiet_.empty() || quiet_.back().step < one.step) {
        quiet_.push_back(one);
      }
    }
    while (quiet_.size() > 1 && quiet_[1].since + rest <= now) {
      quiet_.erase(quiet_.begin());
    }
  }
  /// When a step is whole unless more comes up to it; nullopt if no later step has come.
  [[nodiscard]] std::optional<Time> whole_at(GlobalStep step) const {
    const auto later = std::ranges::upper_bound(quiet_, step, {}, &Quiet::step);
    return later == quiet_.end() ? std::nullopt : std::optional(later->since + rest);
  }
  /// The step below which all are whole; nullopt: none is.
  [[nodiscard]] std::optional<GlobalStep> end(Time now) const {
    const auto recent = std::ranges::find_if(quiet_, [&](const Quiet& one) { return one.since + rest > now; });
    return recent == quiet_.begin() ? std::nullopt : std::optional(recent[-1].step);
  }

 private:
  /// Since when something has come at a step or later, and nothing before it.
  struct Quiet {
    GlobalStep step;
    Time since;
  };

  std::vector<Quiet> quiet_;  // both ascend; of those that are older than `rest`, only the last
};

}  // namespace smd::detail
