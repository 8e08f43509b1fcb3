// SPDX-License-Identifier: Apache-2.0
#include "live.hpp"

#include <smd/follow.hpp>

#include "cli/errors.hpp"
#include "follow/followed_trials.hpp"
#include "other_records.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace smd::tool::rule {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = FollowEvent::Kind;

/// The longest time between two ticks of the rules.
constexpr std::chrono::milliseconds longest_pause{1000};

/// What shows whether a snapshot may hold something new.
struct Extent {
  std::size_t listed;
  std::size_t complete;
  bool ended;

  explicit Extent(const Trial& trial)
      : listed(trial.listed_steps().size()), complete(trial.steps().size()), ended(trial.ended()) {}
  bool operator==(const Extent&) const = default;
};

class LiveTrial {
 public:
  LiveTrial(const EvaluationContext& context, Trial& trial, const std::string& name, FollowedTrials& trials,
            Reports& reports)
      : context_(context), trial_(trial), name_(name), wait_(trials.wait()), reports_(reports), mutex_(trials.mutex()) {
    const std::lock_guard lock(mutex_);
    EvaluationOptions options = evaluation_options(context, trial);
    end_ = options.end;
    options.wait = wait_;
    evaluation_.emplace(context, trial, name, std::move(options), &reports);
    others_.emplace(context.others.all(), wait_, context.messages);
  }

  /// Follows the trial. Problems with it are reported, and what the rules have found so far is kept.
  void run() {
    try {
      follow();
    } catch (const InvalidArgument&) {
      throw;
    } catch (const MatchLimit&) {
      throw;
    } catch (const Error&) {
      end(false, true);
      throw;
    }
  }

 private:
  void follow() {
    const auto& following = context_.options.following;
    StepFollower follower(trial_, {.wait = wait_});
    context_.messages.info(name_ + ": followed by " + follower.method());
    Clock::time_point quiet_since = Clock::now();
    Extent known(trial_);
    while (true) {
      // Taken first: once time is up, the follower accepts an end marker without another look, and must have the chance
      // to.
      const Clock::time_point now = Clock::now();
      std::optional<FollowEvent> event;
      std::optional<GlobalStep> last;
      while ((event = follower.poll()) && event->kind == Kind::step) {
        report_missing_files(trial_, *event, context_.messages);
        context_.messages.say_missing();
        last = std::max(last, std::optional(event->step));
      }
      report_problems(trial_, context_.messages);
      quiet_since = last ? Clock::now() : quiet_since;
      came_ = std::max(came_, last);
      const std::optional<GlobalStep> ready = ready_step();
      const bool job_over = event.has_value() && ready == came_;
      const Extent extent(trial_);
      if (evaluate(ready > offered_ ? ready : std::nullopt, job_over, extent != known)) {
        return;
      }
      offered_ = std::max(offered_, ready);
      known = extent;
      if (wait_.stop.stop_requested()) {
        end(false, true);
        return;
      }
      if (following.idle && now - quiet_since >= *following.idle) {
        give_up("no new step came");
        return;
      }
      if (wait_.deadline && now >= *wait_.deadline) {
        give_up("the job has not ended");
        return;
      }
      pause(quiet_since, known);
    }
  }

  /// The last step that came and that the other trials permit rules to see; nullopt if there is none.
  [[nodiscard]] std::optional<GlobalStep> ready_step() {
    const std::lock_guard lock(mutex_);  // all threads share the other trials
    const std::optional<GlobalStep> readable = others_->last_readable();
    return came_ && readable ? std::max(offered_, std::optional(std::min(*came_, *readable))) : came_;
  }

  /// Evaluates what is new. Returns whether following the trial is over.
  bool evaluate(std::optional<GlobalStep> last, bool job_over, bool new_data) {
    const std::lock_guard lock(mutex_);
    Evaluator& evaluator = evaluation_->evaluator();
    if (last) {
      evaluator.offer(last);
    }
    if (job_over) {
      if (trial_.listed_steps().empty()) {
        report_no_step(trial_, context_.messages, ExitStatus::nothing_evaluated);
      }
      evaluator.offer();
      evaluator.finish();
      evaluation_->conclude();
      return true;
    }
    if (last && !std::exchange(told_, true)) {
      note_not_seen();
    }
    evaluator.tick(std::chrono::duration<double>(Clock::now().time_since_epoch()).count(), new_data);
    evaluation_->report_finished();
    reports_.flush();
    if (evaluator.all_done() || (end_ && last && last->value >= end_->value - 1)) {
      evaluator.finish(false);
      evaluation_->conclude();
      return true;
    }
    return false;
  }

  /// Notes early which rules have nothing to evaluate: it may be a typo, and the job may run for days.
  void note_not_seen() {
    for (const RuleResult& result : evaluation_->evaluator().results()) {
      if (result.status == RuleStatus::in_progress && result.steps_skipped > 0 && result.steps_evaluated == 0 &&
          result.tensors_matched == 0) {
        context_.messages.note(name_ + ": " + result.name + ": nothing that it looks at was saved so far");
      }
    }
  }

  void pause(Clock::time_point quiet_since, const Extent& known) {
    WaitOptions wait = wait_;
    wait.deadline = Clock::now() + longest_pause;
    if (wait_.deadline) {
      wait.deadline = std::min(*wait.deadline, *wait_.deadline);
    }
    if (const auto& idle = context_.options.following.idle) {
      wait.deadline = std::min(*wait.deadline, quiet_since + std::chrono::duration_cast<Clock::duration>(*idle));
    }
    trial_.wait_until([&] { return Extent(trial_) != known; }, wait);
  }

  void give_up(std::string_view why) {
    context_.messages.fail("Timeout", name_ + ": " + std::string(why), ExitStatus::timed_out);
    end(false, true);
  }

  void end(bool complete, bool running) {
    const std::lock_guard lock(mutex_);
    evaluation_->evaluator().finish(complete);
    evaluation_->conclude(running);
  }

  const EvaluationContext& context_;
  Trial& trial_;
  const std::string& name_;
  const WaitOptions& wait_;
  Reports& reports_;
  std::mutex& mutex_;
  std::optional<GlobalStep> end_;
  std::optional<TrialEvaluation> evaluation_;
  std::optional<OtherRecords> others_;
  std::optional<GlobalStep> came_;     // the last step whose records are there
  std::optional<GlobalStep> offered_;  // the last one that rules were shown
  bool told_ = false;                  // whether `note_not_seen` was called
};

}  // namespace

void evaluate_live(const EvaluationContext& context, const std::vector<std::string>& operands, Reports& reports) {
  const FollowingOptions& following = context.options.following;
  FollowedTrials trials(following, context.options.reading, context.messages);
  EvaluationContext live = context;
  live.stop = trials.stop();
  live.others.end_requests_by([&](RemoteOptions& remote) { following.end_requests(remote, trials.wait()); });
  trials.visit(
      operands, {}, true,
      [&](std::size_t i, Trial& trial) { LiveTrial(live, trial, operands[i], trials, reports).run(); },
      [&](std::size_t i) {
        const std::lock_guard lock(trials.mutex());
        report_unread(live, operands[i], Diagnostics::last_failure(), reports);
      });
}

}  // namespace smd::tool::rule
