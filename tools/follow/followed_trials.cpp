// SPDX-License-Identifier: Apache-2.0
#include "follow/followed_trials.hpp"

#include "cli/operands.hpp"
#include "follow/awaited_trial.hpp"
#include "follow/side_by_side.hpp"

#include <algorithm>
#include <chrono>

namespace smd::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// The longest time between two ticks.
constexpr std::chrono::milliseconds longest_pause{1000};

/// What shows whether a snapshot may hold something new.
struct SnapshotExtent {
  std::size_t listed;
  std::size_t complete;
  bool ended;

  explicit SnapshotExtent(const Trial& trial)
      : listed(trial.listed_steps().size()), complete(trial.steps().size()), ended(trial.ended()) {}
  bool operator==(const SnapshotExtent&) const = default;
};

}  // namespace

FollowedTrials::FollowedTrials(const FollowingOptions& following, const ReadingOptions& reading, Diagnostics& messages)
    : following_(following),
      reading_(reading),
      messages_(messages),
      wait_(following.wait_options(interruption_.token())),
      stop_(following.request_stop(wait_)) {}

void FollowedTrials::visit(const std::vector<std::string>& operands, const StepRange& range, bool listed,
                           const std::function<void(std::size_t, Trial&)>& visit,
                           const std::function<void(std::size_t)>& unread) {
  side_by_side(operands.size(), interruption_, [&](std::size_t i) {
    const std::string& path = operands[i];
    const std::string_view hint = listed ? std::string_view() : hint_for(path, operands);
    const auto open = [&](const TrialOptions& options) {
      return open_awaited(path, options, following_, wait_, messages_, Level::warning, hint);
    };
    TrialOptions options = reading_.trial_options(range);
    following_.end_requests(options, path, wait_);
    bool visited = false;
    const auto work = [&](Trial& trial) {
      visited = true;
      visit(i, trial);
    };
    with_trial(path, options, messages_, open, work, hint);
    if (unread && !visited && !wait_.stop.stop_requested()) {
      unread(i);
    }
  });
}

void FollowedTrials::in_ticks(Trial& trial, const std::string& name, const std::function<bool(const FollowTick&)>& tick,
                              const std::function<void()>& give_up) {
  StepFollower follower(trial, {.wait = wait_});
  messages_.info(name + ": followed by " + follower.method());
  Clock::time_point quiet_since = Clock::now();
  SnapshotExtent known(trial);
  while (true) {
    // Taken first: once time is up, the follower accepts an end marker without another look, and must have the chance
    // to.
    const Clock::time_point now = Clock::now();
    FollowTick what;
    std::optional<FollowEvent> event;
    while ((event = follower.poll()) && event->kind == FollowEvent::Kind::step) {
      report_missing_files(trial, *event, messages_);
      messages_.say_missing();
      what.last = std::max(what.last, std::optional(event->step));
    }
    report_problems(trial, messages_);
    quiet_since = what.last ? Clock::now() : quiet_since;
    what.ended = event.has_value();
    const SnapshotExtent extent(trial);
    what.new_data = extent != known;
    known = extent;
    if (tick(what)) {
      return;
    }
    if (wait_.stop.stop_requested()) {
      return give_up();
    }
    const bool idle = following_.idle && now - quiet_since >= *following_.idle;
    if (idle || (wait_.deadline && now >= *wait_.deadline)) {
      messages_.fail("Timeout", name + (idle ? ": no new step came" : ": the job has not ended"),
                     ExitStatus::timed_out);
      return give_up();
    }
    WaitOptions wait = wait_;
    wait.deadline = Clock::now() + longest_pause;
    if (wait_.deadline) {
      wait.deadline = std::min(*wait.deadline, *wait_.deadline);
    }
    if (following_.idle) {
      wait.deadline =
          std::min(*wait.deadline, quiet_since + std::chrono::duration_cast<Clock::duration>(*following_.idle));
    }
    trial.wait_until([&] { return SnapshotExtent(trial) != known; }, wait);
  }
}

void report_problems(const Trial& trial, Diagnostics& messages) {
  for (const Problem& problem : trial.problems()) {
    if (problem.kind != ProblemKind::not_yet) {
      messages.report_once(problem, trial.path());
    }
  }
}

void report_missing_files(const Trial& trial, const FollowEvent& event, Diagnostics& messages) {
  for (const std::string& file : event.missing) {
    messages.report_given_up(trial.path(), file, "step " + std::to_string(event.step.value));
  }
}

}  // namespace smd::tool
