// SPDX-License-Identifier: Apache-2.0
#include "examination.hpp"

#include "follow/followed_trials.hpp"
#include "requests/evaluation.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace smd::tool::report {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds default_interval{2000};

}  // namespace

void examine_live(const ExaminationContext& context, const std::vector<std::string>& operands, const WritePage& write) {
  const FollowingOptions& following = context.options.following;
  FollowedTrials trials(following, context.options.reading, context.messages);
  context.others.end_requests_by(
      [&](TrialOptions& options, const std::string& path) { following.end_requests(options, path, trials.wait()); });
  // What is known of all trials. All that follows is used under the lock of the trials.
  std::vector<TrialReport> reports;
  reports.reserve(operands.size());
  for (const std::string& operand : operands) {
    reports.push_back({.name = operand, .unread = "not there yet"});
  }
  std::vector<bool> ended(operands.size());
  std::optional<Clock::time_point> written;
  const auto due = [&] { return !written || Clock::now() - *written >= following.interval.value_or(default_interval); };
  const auto put = [&](std::size_t trial, TrialReport report, bool over) {
    reports[trial] = std::move(report);
    ended[trial] = over;
    if (over || due()) {
      written = Clock::now();
      write(reports, !std::ranges::all_of(ended, [](bool one) { return one; }));
    }
  };
  const auto examine_one = [&](std::size_t i, Trial& trial) {
    std::optional<GlobalStep> end;
    std::optional<Examination> examination;
    bool changed = false;  // since the page was written
    bool shown = false;
    {
      const std::lock_guard lock(trials.mutex());
      EvaluationOptions options;
      options.follow = true;
      options.wait = trials.wait();
      choose_steps(options, context.options.selection, trial, context.messages);
      end = options.end;
      examination.emplace(context, trial, operands[i], std::move(options));
    }
    // Evaluates what is new, and writes the page. Returns whether following the trial is over.
    const auto show = [&](const FollowTick& what) {
      const std::lock_guard lock(trials.mutex());
      Evaluator& evaluator = examination->evaluator();
      bool over = what.ended;
      if (what.last) {
        evaluator.offer(what.last);
      }
      if (over) {
        evaluator.offer();
        evaluator.finish();
      } else if (end && what.last && what.last->value >= end->value - 1) {
        evaluator.finish(false);
        over = true;
      } else {
        evaluator.tick(std::chrono::duration<double>(Clock::now().time_since_epoch()).count(), what.new_data);
      }
      changed = changed || what.last || over || !shown;
      if (over || (changed && due())) {
        put(i, examination->report(over), over);
        changed = false;
        shown = true;
      }
      return over;
    };
    trials.in_ticks(trial, operands[i], show, [&] {
      const std::lock_guard lock(trials.mutex());
      examination->evaluator().finish(false);
      put(i, examination->report(true), true);
    });
  };
  trials.visit(operands, {}, true, examine_one, [&](std::size_t i) {
    const std::lock_guard lock(trials.mutex());
    put(i, {.name = operands[i], .unread = Diagnostics::last_failure()}, true);
  });
}

}  // namespace smd::tool::report
