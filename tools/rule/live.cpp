// SPDX-License-Identifier: Apache-2.0
#include "live.hpp"

#include <smd/follow.hpp>

#include "cli/errors.hpp"
#include "cli/interruption.hpp"
#include "cli/operands.hpp"
#include "follow/awaited_trial.hpp"
#include "other_records.hpp"
#include "follow/side_by_side.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace smd::tool::rule {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = FollowEvent::Kind;

/// How often rules are told that time goes by, at least.
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
  LiveTrial(const Judgement& judgement, Trial& trial, const std::string& name, const WaitOptions& wait,
            Reports& reports, std::mutex& mutex)
      : judgement_(judgement), trial_(trial), name_(name), wait_(wait), reports_(reports), mutex_(mutex) {
    const std::lock_guard lock(mutex_);
    EvaluationOptions options = evaluation_options(judgement, trial);
    end_ = options.end;
    options.wait = wait_;
    judge_.emplace(judgement, trial, name, std::move(options), &reports);
    others_.emplace(judgement.others.all(), wait, judgement.messages);
  }

  /// Rules may be told of trouble with the trial, but not lose what they have found.
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
    const auto& following = judgement_.options.following;
    StepFollower follower(trial_, {.wait = wait_});
    judgement_.messages.info(name_ + ": followed by " + follower.method());
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
      if (judge(ready > offered_ ? ready : std::nullopt, job_over, extent != known)) {
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
  bool judge(std::optional<GlobalStep> last, bool job_over, bool new_data) {
    const std::lock_guard lock(mutex_);
    Evaluator& evaluator = judge_->evaluator();
    if (last) {
      evaluator.offer(last);
    }
    if (job_over) {
      if (trial_.listed_steps().empty()) {
        report_no_step(trial_, judgement_.messages, ExitStatus::nothing_evaluated);
      }
      evaluator.offer();
      evaluator.finish();
      judge_->conclude();
      return true;
    }
    if (last && !std::exchange(told_, true)) {
      note_not_seen();
    }
    evaluator.tick(std::chrono::duration<double>(Clock::now().time_since_epoch()).count(), new_data);
    judge_->report_finished();
    reports_.flush();
    if (evaluator.all_done() || (end_ && last && last->value >= end_->value - 1)) {
      evaluator.finish(false);
      judge_->conclude();
      return true;
    }
    return false;
  }

  /// A typo is not to be told only when the job is over.
  void note_not_seen() {
    for (const RuleResult& result : judge_->evaluator().results()) {
      if (result.status == RuleStatus::in_progress && result.steps_skipped > 0 && result.steps_evaluated == 0 &&
          result.tensors_matched == 0) {
        judgement_.messages.note(name_ + ": " + result.name + ": nothing that it looks at was saved so far");
      }
    }
  }

  void pause(Clock::time_point quiet_since, const Extent& known) {
    WaitOptions wait = wait_;
    wait.deadline = Clock::now() + longest_pause;
    if (wait_.deadline) {
      wait.deadline = std::min(*wait.deadline, *wait_.deadline);
    }
    if (const auto& idle = judgement_.options.following.idle) {
      wait.deadline = std::min(*wait.deadline, quiet_since + std::chrono::duration_cast<Clock::duration>(*idle));
    }
    trial_.wait_until([&] { return Extent(trial_) != known; }, wait);
  }

  void give_up(std::string_view why) {
    judgement_.messages.fail("Timeout", name_ + ": " + std::string(why), ExitStatus::timed_out);
    end(false, true);
  }

  void end(bool complete, bool running) {
    const std::lock_guard lock(mutex_);
    judge_->evaluator().finish(complete);
    judge_->conclude(running);
  }

  void tell_missing(const FollowEvent& event) {
    for (const std::string& file : event.missing) {
      judgement_.messages.report_given_up(trial_.path(), file, "step " + std::to_string(event.step.value));
    }
    judgement_.messages.say_missing();
  }

  void report_problems() {
    for (const Problem& problem : trial_.problems()) {
      if (problem.kind != ProblemKind::not_yet) {
        judgement_.messages.report_once(problem, trial_.path());
      }
    }
  }

  const Judgement& judgement_;
  Trial& trial_;
  const std::string& name_;
  const WaitOptions& wait_;
  Reports& reports_;
  std::mutex& mutex_;
  std::optional<GlobalStep> end_;
  std::optional<TrialJudge> judge_;
  std::optional<OtherRecords> others_;
  std::optional<GlobalStep> came_;     // the last step whose records are there
  std::optional<GlobalStep> offered_;  // the last one that rules were shown
  bool told_ = false;                  // what was not seen at the first steps
};

class LiveTrials {
 public:
  LiveTrials(const Judgement& judgement, Reports& reports)
      : judgement_(judgement),
        reports_(reports),
        wait_(judgement.options.following.wait_options(interruption_.token())) {
    judgement_.stop = judgement.options.following.request_stop(wait_);
    judgement_.others.stop_by(judgement_.stop);
  }

  void run(const std::vector<std::string>& operands) {
    side_by_side(operands.size(), interruption_, [&](std::size_t i) { follow(operands[i]); });
  }

 private:
  void follow(const std::string& operand) {
    bool read = false;
    const auto open = [&](const TrialOptions& options) {
      return open_awaited(operand, options, judgement_.options.following, wait_, judgement_.messages, Level::warning);
    };
    TrialOptions options = judgement_.options.reading.trial_options();
    options.remote.stop = judgement_.stop;
    with_trial(operand, options, judgement_.messages, open, [&](Trial& trial) {
      read = true;
      LiveTrial(judgement_, trial, operand, wait_, reports_, mutex_).run();
    });
    if (!read && !wait_.stop.stop_requested()) {
      const std::lock_guard lock(mutex_);
      report_unread(judgement_, operand, Diagnostics::last_failure(), reports_);
    }
  }

  Judgement judgement_;
  Reports& reports_;
  Interruption interruption_;
  WaitOptions wait_;
  std::mutex mutex_;
};

}  // namespace

void judge_live(const Judgement& judgement, const std::vector<std::string>& operands, Reports& reports) {
  LiveTrials(judgement, reports).run(operands);
}

}  // namespace smd::tool::rule
