// SPDX-License-Identifier: Apache-2.0

#include "framework/common.hpp"
#include "framework/rule_run.hpp"

#include <smd/follow.hpp>
#include <smd/log.hpp>
#include <smd/snapshot.hpp>
#include <smd/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace smd {

namespace {

using detail::rules::SteadyClock;
using Time = std::chrono::steady_clock::time_point;

/// Number of steps passed to the evaluator at once. The time is checked after each group.
constexpr std::size_t steps_at_once = 64;
/// The longest time between two calls of `Rule::tick`.
constexpr std::chrono::seconds longest_pause{1};

/// Passes the steps of a trial to an evaluator, as they become available while the job runs.
class Invocation {
 public:
  Invocation(Evaluator& evaluator, const Rule& rule, GlobalStep start, std::optional<GlobalStep> end,
             const WaitOptions& wait, const SteadyClock& now)
      : evaluator_(evaluator),
        trial_(rule.base_trial()),
        compared_(rule.other_trials()),
        start_(start),
        end_(end),
        wait_(wait),
        now_(now),
        known_files_(listed_files(trial_)) {}

  WaitOutcome run(bool ended) { return ended ? evaluate_all() : follow(); }

 private:
  /// A trial that the rule compares with.
  struct Other {
    const Trial* trial;
    StepFollower follower;
    std::optional<GlobalStep> last = {};  // the latest step that is available
  };

  [[nodiscard]] bool past_end(GlobalStep step) const { return end_ && step.value >= end_->value - 1; }
  [[nodiscard]] bool no_time(Time now) const { return wait_.deadline && now >= *wait_.deadline; }

  WaitOutcome evaluate_all() {
    const std::vector<GlobalStep> steps = trial_.steps();
    for (std::size_t next = 0; next < steps.size() && !evaluator_.all_done(); next += steps_at_once) {
      if (wait_.stop.stop_requested()) {
        return WaitOutcome::stopped;
      }
      if (next > 0 && no_time(now_())) {
        return WaitOutcome::timed_out;
      }
      evaluator_.offer(steps[std::min(next + steps_at_once, steps.size()) - 1]);
    }
    return job_over();
  }

  WaitOutcome follow() {
    if (end_ && *end_ <= start_) {
      evaluator_.finish(false);
      return WaitOutcome::reached;
    }
    const GlobalStep end = end_.value_or(GlobalStep(INT64_MAX));
    FollowOptions options{.wait = wait_, .whole_before = end};
    if (start_.value > INT64_MIN) {
      options.after = GlobalStep(start_.value - 1);
    }
    StepFollower follower(trial_, options);
    for (const Trial* const other : compared_) {
      others_.push_back({other, StepFollower(*other, {.wait = wait_, .whole_before = end})});
    }
    bool waited = false;  // no step was left to evaluate
    while (true) {
      const Time now = now_();
      // When time is up, all steps that were held back are evaluated, but not those for which the rule had no time.
      const bool all = waited && no_time(now) && !trial_.layout().marks_steps;
      const std::optional<FollowEvent> event = offer_new(follower, all ? SIZE_MAX : steps_at_once);
      const bool ended = event && event->outcome == WaitOutcome::ended;
      if (ended && held_by_ == nullptr) {
        return job_over();
      }
      tick();
      if (evaluator_.all_done() || (last_ && past_end(*last_))) {
        evaluator_.finish(false);
        return WaitOutcome::reached;
      }
      if (wait_.stop.stop_requested()) {
        return WaitOutcome::stopped;
      }
      if (no_time(now)) {
        return WaitOutcome::timed_out;
      }
      waited = !event || ended;
      if (waited) {
        pause(ended ? *held_by_ : trial_);
      }
    }
  }

  /// Offers up to `most` available steps, as far as the other trials have come or ended. Returns the last event of the
  /// follower: a step if there may be more; nullopt if none is available.
  std::optional<FollowEvent> offer_new(StepFollower& follower, std::size_t most) {
    std::optional<FollowEvent> event;
    for (std::size_t count = 0; count < most; ++count) {
      event = follower.poll();
      if (!event || event->outcome != WaitOutcome::reached) {
        break;
      }
      came_ = std::max(came_, std::optional(event->step));
      if (past_end(event->step)) {
        break;
      }
    }
    std::optional<GlobalStep> ready = came_;
    held_by_ = nullptr;
    for (Other& other : others_) {
      std::optional<FollowEvent> theirs;
      while ((theirs = other.follower.poll()) && theirs->outcome == WaitOutcome::reached) {
        other.last = std::max(other.last, std::optional(theirs->step));
      }
      if (!theirs && other.last < ready) {
        ready = other.last;
        held_by_ = other.trial;
      }
    }
    if (ready > last_) {
      evaluator_.offer(ready);
      last_ = ready;
    }
    return event;
  }

  void tick() {
    const std::size_t files = listed_files(trial_);
    const bool new_data = files != known_files_;
    known_files_ = files;
    const std::chrono::duration<double> seconds = now_().time_since_epoch();
    evaluator_.tick(seconds.count(), new_data);
  }

  /// Waits until an index file of a trial appears, for at most `longest_pause`.
  void pause(const Trial& trial) {
    const std::size_t files = &trial == &trial_ ? known_files_ : listed_files(trial);
    WaitOptions wait = wait_;
    wait.deadline = std::min<Time>(now_() + longest_pause, wait_.deadline.value_or(Time::max()));
    trial.wait_until([&] { return listed_files(trial) != files; }, wait);
  }

  [[nodiscard]] static std::size_t listed_files(const Trial& trial) {
    return TrialSnapshot::last(trial).listed_files();
  }

  /// Evaluates the remaining steps of a job that has ended. @throws NoMoreData if the job ended before the last step
  /// that was requested.
  WaitOutcome job_over() {
    if (!evaluator_.all_done()) {
      evaluator_.offer();
    }
    const bool done = evaluator_.all_done();
    evaluator_.finish();
    const std::vector<GlobalStep> steps = trial_.steps();
    const GlobalStep next = std::max(start_, steps.empty() ? GlobalStep() : GlobalStep(steps.back().value + 1));
    if (end_ && !done && next < *end_) {
      throw NoMoreData(fmt::format("step {} will not come: the job has ended before it", next.value), StepKey(next),
                       steps.empty() ? -1 : steps.back().value);
    }
    return done || end_ ? WaitOutcome::reached : WaitOutcome::ended;
  }

  Evaluator& evaluator_;
  const Trial& trial_;
  std::span<const Trial* const> compared_;
  GlobalStep start_;
  std::optional<GlobalStep> end_;
  const WaitOptions& wait_;
  const SteadyClock& now_;
  std::size_t known_files_;
  std::vector<Other> others_;       // those of `compared_`, while following
  std::optional<GlobalStep> came_;  // the latest step that is available
  std::optional<GlobalStep> last_;  // the evaluator was passed all steps up to here
  const Trial* held_by_ = nullptr;  // the trial that has come least far, if that holds steps back
};

}  // namespace

RuleResult detail::rules::invoke_rule_by(const SteadyClock& now, Rule& rule, GlobalStep start_step,
                                         std::optional<GlobalStep> end_step, bool raise_eval_cond,
                                         const WaitOptions& wait, WaitOutcome* outcome) {
  if (!detail::rules::RuleAccess::has_trial(rule)) {
    throw InvalidArgument("the rule has no trial: call set_trials first");
  }
  const bool ended = rule.base_trial().ended();
  std::string name;
  std::optional<GlobalStep> logged;
  EvaluationOptions options{.start = start_step,
                            .end = end_step,
                            .keep_going = !raise_eval_cond,
                            .follow = !ended,
                            .wait = wait,
                            .rethrow = true};
  if (!raise_eval_cond) {
    options.on_finding = [&](std::size_t, const Finding& finding) {  // one line for each step, as the reference does
      const GlobalStep step = finding.step.value_or(GlobalStep());
      if (logged != step) {
        log(LogLevel::info, detail::rules::condition_met_text(name, step));
        logged = step;
      }
    };
  }
  Evaluator evaluator(rule.base_trial(), options);
  evaluator.add(rule);
  name = evaluator.results().front().rule;
  WaitOutcome how = WaitOutcome::reached;
  try {
    how = Invocation(evaluator, rule, start_step, end_step, wait, now).run(ended);
  } catch (const StepNotYetAvailable&) {
    // A stop or the deadline also ends the rule's own wait for a step of another trial.
    if (!wait.stop.stop_requested() && !(wait.deadline && now() >= *wait.deadline)) {
      throw;
    }
    how = wait.stop.stop_requested() ? WaitOutcome::stopped : WaitOutcome::timed_out;
  }
  if (outcome != nullptr) {
    *outcome = how;
  }
  RuleResult result = evaluator.results().front();
  if (raise_eval_cond && !result.findings.empty()) {
    detail::rules::throw_condition_met(result.rule, result.findings.front().step.value_or(GlobalStep()));
  }
  return result;
}

RuleResult invoke_rule(Rule& rule, GlobalStep start_step, std::optional<GlobalStep> end_step, bool raise_eval_cond,
                       const WaitOptions& wait, WaitOutcome* outcome) {
  return detail::rules::invoke_rule_by(std::chrono::steady_clock::now, rule, start_step, end_step, raise_eval_cond,
                                       wait, outcome);
}

RuleResult invoke_rule(Rule& rule, GlobalStep start_step, std::optional<GlobalStep> end_step, bool raise_eval_cond) {
  return invoke_rule(rule, start_step, end_step, raise_eval_cond, {});
}

}  // namespace smd
