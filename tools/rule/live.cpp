// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <smd/follow.hpp>
#include <smd/rule_registry.hpp>

#include "cli/exit_status.hpp"
#include "follow/followed_trials.hpp"
#include "select/explanations.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <utility>

namespace smd::tool::rule {

namespace {

/// For --follow: up to which step the records of the trials that rules compare with exist. An index file can come
/// before its event file: while that may still come, no step from there on is evaluated. Used by one thread.
class OtherRecords {
 public:
  /// The trials must outlive this.
  OtherRecords(std::deque<Trial>& trials, const WaitOptions& wait, Diagnostics& messages) : messages_(messages) {
    for (Trial& trial : trials) {
      others_.push_back({&trial, StepFollower(trial, {.wait = wait}), std::nullopt});
    }
  }

  /// The last step up to which rules can read the trials; nullopt: no bound. Looks for what is new, and reports which
  /// event files were waited for and did not come. @throws ReadError.
  [[nodiscard]] std::optional<GlobalStep> last_readable() {
    std::optional<GlobalStep> last;
    for (Other& other : others_) {
      std::optional<FollowEvent> event;
      while ((event = other.follower.poll()) && event->outcome == WaitOutcome::reached) {
        report_missing_files(*other.trial, *event, messages_);
        other.given = std::max(other.given, std::optional(event->step));
      }
      messages_.say_missing();
      if (event) {  // its job is over
        continue;
      }
      const std::vector<GlobalStep> steps = other.trial->steps();
      const auto held = other.given ? std::ranges::upper_bound(steps, *other.given) : steps.begin();
      if (held != steps.end()) {
        const GlobalStep before(held->value - 1);
        last = last ? std::min(*last, before) : before;
      }
    }
    return last;
  }

 private:
  struct Other {
    Trial* trial;
    StepFollower follower;
    std::optional<GlobalStep> given;  // the largest step whose records are there, or were given up
  };

  std::deque<Other> others_;
  Diagnostics& messages_;
};

class LiveTrial {
 public:
  LiveTrial(const EvaluationContext& context, Trial& trial, const std::string& name, FollowedTrials& trials,
            Reports& reports)
      : context_(context), trial_(trial), name_(name), trials_(trials), reports_(reports) {
    const std::lock_guard lock(trials_.mutex());
    EvaluationOptions options = evaluation_options(context, trial);
    end_ = options.end;
    options.wait = trials.wait();
    evaluation_.emplace(context, trial, name, std::move(options), &reports);
    others_.emplace(context.others.all(), trials.wait(), context.messages);
  }

  /// Follows the trial. Problems with it are reported, and what the rules have found so far is kept.
  void run() {
    try {
      trials_.in_ticks(
          trial_, name_, [this](const FollowTick& what) { return tick(what); }, [this] { end(true); });
    } catch (const InvalidArgument&) {
      throw;
    } catch (const Error&) {
      end(false);
      throw;
    }
  }

 private:
  /// Evaluates what is new. Returns whether following the trial is over.
  bool tick(const FollowTick& what) {
    const std::lock_guard lock(trials_.mutex());  // all threads share the other trials
    if (what.again) {
      evaluation_->evaluator().restart();
      came_ = offered_ = std::nullopt;
    }
    came_ = std::max(came_, what.last);
    // The last step that came and that the other trials permit rules to see.
    const std::optional<GlobalStep> readable = others_->last_readable();
    const auto ready = came_ && readable ? std::max(offered_, std::optional(std::min(*came_, *readable))) : came_;
    const bool news = ready > offered_;
    offered_ = ready;
    Evaluator& evaluator = evaluation_->evaluator();
    if (news) {
      evaluator.offer(ready);
    }
    if (what.ended && ready == came_) {
      if (trial_.listed_steps().empty()) {
        report_no_step(trial_, context_.messages, ExitStatus::nothing_evaluated);
      }
      evaluator.offer();
      evaluator.finish();
      evaluation_->conclude();
      return true;
    }
    if (news && !std::exchange(told_, true)) {
      note_not_seen();
    }
    evaluator.tick(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
                   what.new_data);
    evaluation_->report_finished();
    reports_.flush();
    // A step that can grow is over once a later one has come.
    const std::int64_t last = end_ ? end_->value - (trial_.layout().marks_steps ? 1 : 0) : 0;
    if (evaluator.all_done() || (end_ && news && ready->value >= last)) {
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
          result.tensors_matched == 0 && !describe_rule(result.rule).watches_clock) {
        context_.messages.note(name_ + ": " + result.name + ": nothing that it looks at was saved so far");
      }
    }
  }

  /// Reports the results before the trial's end. `whole`: no error ended the evaluation.
  void end(bool whole) {
    const std::lock_guard lock(trials_.mutex());
    whole = finish_early(evaluation_->evaluator()) && whole;
    evaluation_->conclude(true, whole);
  }

  const EvaluationContext& context_;
  Trial& trial_;
  const std::string& name_;
  FollowedTrials& trials_;
  Reports& reports_;
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
  live.others.end_requests_by(
      [&](TrialOptions& options, const std::string& path) { following.end_requests(options, path, trials.wait()); });
  trials.visit(
      operands, {}, true,
      [&](std::size_t i, Trial& trial) { LiveTrial(live, trial, operands[i], trials, reports).run(); },
      [&](std::size_t i) {
        const std::lock_guard lock(trials.mutex());
        report_unread(live, operands[i], Diagnostics::last_failure(), reports);
      });
}

}  // namespace smd::tool::rule
