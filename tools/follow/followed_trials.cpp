// SPDX-License-Identifier: Apache-2.0
#include "follow/followed_trials.hpp"

#include "cli/operands.hpp"
#include "follow/awaited_trial.hpp"
#include "follow/side_by_side.hpp"

namespace smd::tool {

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
    following_.end_requests(options.remote, wait_);
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
