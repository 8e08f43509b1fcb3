// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"
#include "framework/condition_met.hpp"
#include "framework/rule_run.hpp"
#include "trial/trial_impl.hpp"

#include <smd/evaluator.hpp>
#include <smd/follow.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace smd {

namespace {

using detail::TrialAccess;
using detail::trial::TrialState;
using Time = std::chrono::steady_clock::time_point;

/// Steps shown to the evaluator at once. Between them it is looked whether time is up.
constexpr std::size_t steps_at_once = 64;
/// How often a rule that watches the clock is told the time.
constexpr std::chrono::seconds longest_pause{1};

/// One line for each step at which the condition is met, as the reference's.
class TriggerLog {
 public:
  explicit TriggerLog(std::string rule) : rule_(std::move(rule)) {}

  void add(const Finding& finding) {
    const GlobalStep step = finding.step.value_or(GlobalStep());
    if (last_ != step) {
      detail::log(LogLevel::info, detail::rules::condition_met_text(rule_, step));
      last_ = step;
    }
  }

 private:
  std::string rule_;
  std::optional<GlobalStep> last_;
};

/// Shows an evaluator the steps of a trial, as they come while the job runs.
class Invocation {
 public:
  Invocation(Evaluator& evaluator, const Rule& rule, GlobalStep start, std::optional<GlobalStep> end,
             const WaitOptions& wait)
      : evaluator_(evaluator),
        trial_(rule.base_trial()),
        state_(TrialAccess::state(trial_)),
        others_(rule.other_trials()),
        start_(start),
        end_(end),
        wait_(wait),
        known_files_(listed_files()) {}

  WaitOutcome run(bool ended) { return ended ? evaluate_all() : follow(); }

 private:
  [[nodiscard]] bool past_end(GlobalStep step) const { return end_ && step.value >= end_->value - 1; }
  [[nodiscard]] bool no_time(Time now) const { return wait_.deadline && now >= *wait_.deadline; }

  WaitOutcome evaluate_all() {
    const std::vector<GlobalStep> steps = trial_.steps();
    for (std::size_t next = 0; next < steps.size() && !evaluator_.all_done(); next += steps_at_once) {
      if (wait_.stop.stop_requested()) {
        return WaitOutcome::stopped;
      }
      if (next > 0 && no_time(state_.clock().now())) {
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
    FollowOptions options{.wait = wait_};
    if (start_.value > INT64_MIN) {
      options.after = GlobalStep(start_.value - 1);
    }
    StepFollower follower(trial_, options);
    while (true) {
      const Time now = state_.clock().now();
      const std::optional<FollowEvent> event = offer_new(follower);
      if (event && event->kind == FollowEvent::Kind::ended) {
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
      if (!event) {
        pause();
      }
    }
  }

  /// Up to `steps_at_once` that are there. What the follower comes back with beside steps; a step if there may be more.
  std::optional<FollowEvent> offer_new(StepFollower& follower) {
    std::optional<FollowEvent> event;
    std::optional<GlobalStep> newest;
    for (std::size_t count = 0; count < steps_at_once; ++count) {
      event = follower.poll();
      if (!event || event->kind != FollowEvent::Kind::step) {
        break;
      }
      newest = std::max(newest, std::optional(event->step));
      if (past_end(event->step)) {
        break;
      }
    }
    if (newest) {
      for (const Trial* const other : others_) {
        TrialAccess::state(*other).refresh();
      }
      evaluator_.offer(newest);
      last_ = std::max(last_, newest);
    }
    return event;
  }

  void tick() {
    const std::size_t files = listed_files();
    const bool new_data = files != known_files_;
    known_files_ = files;
    const std::chrono::duration<double> seconds = state_.clock().now().time_since_epoch();
    evaluator_.tick(seconds.count(), new_data);
  }

  /// Until an index file comes, or for a second.
  void pause() {
    WaitOptions wait = wait_;
    wait.deadline = state_.clock().now() + longest_pause;
    if (wait_.deadline) {
      wait.deadline = std::min(*wait.deadline, *wait_.deadline);
    }
    trial_.wait_until([&] { return listed_files() != known_files_; }, wait);
  }

  [[nodiscard]] std::size_t listed_files() const {
    const auto snapshot = state_.current();
    return snapshot->listing->named ? snapshot->listing->named->files.size() : snapshot->steps.size();
  }

  /// @throws NoMoreData if the job has ended before the last step that was asked for.
  WaitOutcome job_over() {
    if (!evaluator_.all_done()) {
      evaluator_.offer();
    }
    const bool done = evaluator_.all_done();
    evaluator_.finish();
    const std::vector<GlobalStep> steps = trial_.steps();
    const GlobalStep next = std::max(start_, steps.empty() ? GlobalStep() : GlobalStep(steps.back().value + 1));
    if (end_ && !done && next < *end_) {
      const StepKey key(next);
      throw NoMoreData(detail::trial::describe(key) + " will not come: the job has ended before it", key);
    }
    return done || end_ ? WaitOutcome::reached : WaitOutcome::ended;
  }

  Evaluator& evaluator_;
  const Trial& trial_;
  TrialState& state_;
  std::span<const Trial* const> others_;
  GlobalStep start_;
  std::optional<GlobalStep> end_;
  const WaitOptions& wait_;
  std::size_t known_files_;
  std::optional<GlobalStep> last_;  // the latest step shown to the evaluator
};

}  // namespace

RuleResult invoke_rule(Rule& rule, GlobalStep start_step, std::optional<GlobalStep> end_step, bool raise_eval_cond,
                       const WaitOptions& wait, WaitOutcome* outcome) {
  if (!detail::rules::RuleAccess::has_trial(rule)) {
    throw InvalidArgument("the rule has no trial: call set_trials first");
  }
  const bool ended = rule.base_trial().ended();
  std::optional<TriggerLog> triggers;
  EvaluationOptions options;
  options.start = start_step;
  options.end = end_step;
  options.keep_going = !raise_eval_cond;
  options.follow = !ended;
  options.rethrow = true;
  options.wait = wait;
  if (!raise_eval_cond) {
    options.on_finding = [&](std::size_t, const Finding& finding) { triggers->add(finding); };
  }
  Evaluator evaluator(rule.base_trial(), options);
  evaluator.add(rule);
  triggers.emplace(evaluator.results().front().rule);
  WaitOutcome how = WaitOutcome::reached;
  try {
    how = Invocation(evaluator, rule, start_step, end_step, wait).run(ended);
  } catch (const StepNotYetAvailable&) {
    // A rule's own wait, for a step of another trial, ends when it is stopped or time is up too.
    const Time now = TrialAccess::state(rule.base_trial()).clock().now();
    if (!wait.stop.stop_requested() && !(wait.deadline && now >= *wait.deadline)) {
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

RuleResult invoke_rule(Rule& rule, GlobalStep start_step, std::optional<GlobalStep> end_step, bool raise_eval_cond) {
  return invoke_rule(rule, start_step, end_step, raise_eval_cond, {});
}

}  // namespace smd
