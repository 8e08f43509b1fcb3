// SPDX-License-Identifier: Apache-2.0
#include "other_records.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace smd::tool::rule {

OtherRecords::OtherRecords(std::deque<Trial>& trials, const WaitOptions& wait, Diagnostics& messages)
    : messages_(messages) {
  for (Trial& trial : trials) {
    others_.push_back({&trial, StepFollower(trial, {.wait = wait}), std::nullopt});
  }
}

std::optional<GlobalStep> OtherRecords::last_readable() {
  std::optional<GlobalStep> last;
  for (Other& other : others_) {
    std::optional<FollowEvent> event;
    while ((event = other.follower.poll()) && event->kind == FollowEvent::Kind::step) {
      for (const std::string& file : event->missing) {
        messages_.report_given_up(other.trial->path(), file, "step " + std::to_string(event->step.value));
      }
      other.given = std::max(other.given, std::optional(event->step));
    }
    messages_.say_missing();
    if (event) {  // its job is over
      continue;
    }
    const std::vector<GlobalStep> steps = other.trial->steps();
    const auto held = other.given ? std::upper_bound(steps.begin(), steps.end(), *other.given) : steps.begin();
    if (held != steps.end()) {
      const GlobalStep before(held->value - 1);
      last = last ? std::min(*last, before) : before;
    }
  }
  return last;
}

}  // namespace smd::tool::rule
