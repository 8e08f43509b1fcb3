// SPDX-License-Identifier: Apache-2.0
#include "live.hpp"

#include <smd/follow.hpp>

#include "cli/errors.hpp"
#include "cli/interruption.hpp"
#include "cli/operands.hpp"
#include "follow/awaited_trial.hpp"
#include "follow/side_by_side.hpp"
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

/// Whether a snapshot may hold something new.
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
  LiveTrial(const EvaluationContext& context, Trial& trial, const std::string& name, const WaitOptions& wait,
            Reports& reports, std::mutex& mutex)
      : context_(context), trial_(trial), name_(name), wait_(wait), reports_(reports), mutex_(mutex) {
    const std::lock_guard lock(mutex_);
    EvaluationOptions options = evaluation_options(context, trial);
    end_ = options.end;
    options.wait = wait_;
    evaluation_.emplace(context, trial, name, std::move(options), &reports);
    others_.emplace(context.others.all(), wait, context.messages);
  }

  /// Trouble with the trial is reported, and what the rules have found so far is kept.
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
      // Before the follower is asked: it believes an end marker for which no time is left.
      const Clock::time_point now = Clock::now();
      std::optional<FollowEvent> event;
      std::optional<GlobalStep> last;
      while ((event = follower.poll()) && event->kind == Kind::step) {
        tell_missing(*event);
        last = std::max(last, std::optional(event->step));
      }
      report_problems();
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

  /// The last step that came and that the other trials let rules see.
  [[nodiscard]] std::optional<GlobalStep> ready_step() {
    const std::lock_guard lock(mutex_);  // the other trials are everybody's
    const std::optional<GlobalStep> readable = others_->last_readable();
    return came_ && readable ? std::max(offered_, std::optional(std::min(*came_, *readable))) : came_;
  }

  /// Shows the rules what is new. Returns whether it is over.
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

  /// Says early on which rules have nothing to look at: it may be a typo, and the job may run for days.
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

  void tell_missing(const FollowEvent& event) {
    for (const std::string& file : event.missing) {
      context_.messages.report_given_up(trial_.path(), file, "step " + std::to_string(event.step.value));
    }
    context_.messages.say_missing();
  }

  void report_problems() {
    for (const Problem& problem : trial_.problems()) {
      if (problem.kind != ProblemKind::not_yet) {
        context_.messages.report_once(problem, trial_.path());
      }
    }
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
  bool told_ = false;                  // what was not seen at the first steps
};

class LiveTrials {
 public:
  LiveTrials(const EvaluationContext& context, Reports& reports)
      : context_(context), reports_(reports), wait_(context.options.following.wait_options(interruption_.token())) {
    context_.stop = context.options.following.request_stop(wait_);
    context_.others.end_requests_by(
        [this](RemoteOptions& remote) { context_.options.following.end_requests(remote, wait_); });
  }

  void run(const std::vector<std::string>& operands) {
    side_by_side(operands.size(), interruption_, [&](std::size_t i) { follow(operands[i]); });
  }

 private:
  void follow(const std::string& operand) {
    bool read = false;
    const auto open = [&](const TrialOptions& options) {
      return open_awaited(operand, options, context_.options.following, wait_, context_.messages, Level::warning);
    };
    TrialOptions options = context_.options.reading.trial_options();
    context_.options.following.end_requests(options.remote, wait_);
    with_trial(operand, options, context_.messages, open, [&](Trial& trial) {
      read = true;
      LiveTrial(context_, trial, operand, wait_, reports_, mutex_).run();
    });
    if (!read && !wait_.stop.stop_requested()) {
      const std::lock_guard lock(mutex_);
      report_unread(context_, operand, Diagnostics::last_failure(), reports_);
    }
  }

  EvaluationContext context_;
  Reports& reports_;
  Interruption interruption_;
  WaitOptions wait_;
  std::mutex mutex_;
};

}  // namespace

void evaluate_live(const EvaluationContext& context, const std::vector<std::string>& operands, Reports& reports) {
  LiveTrials(context, reports).run(operands);
}

}  // namespace smd::tool::rule
