// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <smd/rule_registry.hpp>

#include "cli/exit_status.hpp"
#include "follow/followed_trials.hpp"
#include "select/explanations.hpp"

#include <mutex>
#include <utility>

namespace smd::tool::rule {

namespace {

class LiveTrial {
 public:
  LiveTrial(const EvaluationContext& context, Trial& trial, const std::string& name, FollowedTrials& trials,
            Reports& reports)
      : context_(context), trial_(trial), name_(name), trials_(trials), reports_(reports) {
    const std::lock_guard lock(trials_.mutex());
    EvaluationOptions options = evaluation_options(context, trial);
    options.wait = trials.wait();
    evaluation_.emplace(context, trial, name, std::move(options), &reports);
  }

  /// Follows the trial. Problems with it are reported, and what the rules have found so far is kept.
  void run() {
    if (!check_modes(trial_, context_.options.selection.modes, context_.messages)) {
      const std::lock_guard lock(trials_.mutex());
      evaluation_->evaluator().finish(false);
      evaluation_->conclude();
      return;
    }
    try {
      trials_.in_ticks(
          trial_, name_, context_.others.all(), [this](const FollowTick& what) { return tick(what); },
          [this] { end(true); });
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
    const bool over = evaluate_tick(evaluation_->evaluator(), what);
    if (what.ended) {
      return finish(true);
    }
    if (what.last && !std::exchange(noted_, true)) {
      note_not_seen();
    }
    evaluation_->report_finished();
    reports_.flush();
    return over && finish(false);
  }

  /// Reports the results, and what was asked for and never saved. `whole`: all steps were offered. Returns true.
  bool finish(bool whole) {
    if (trial_.ended() && check_choice(context_.options.selection, trial_, context_.messages) &&
        trial_.listed_steps().empty()) {
      report_no_step(trial_, context_.messages, ExitStatus::nothing_evaluated);
    }
    evaluation_->evaluator().finish(whole);
    evaluation_->conclude();
    return true;
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
  std::optional<TrialEvaluation> evaluation_;
  bool noted_ = false;  // whether `note_not_seen` was called
};

}  // namespace

void evaluate_live(const EvaluationContext& context, const std::vector<std::string>& operands, Reports& reports) {
  FollowedTrials trials(context.options.following, context.options.reading, context.messages);
  EvaluationContext live = context;
  live.stop = trials.stop();
  live.others.follow_with(trials);
  trials.visit(
      operands, {}, true,
      [&](std::size_t i, Trial& trial) { LiveTrial(live, trial, operands[i], trials, reports).run(); },
      [&](std::size_t i) {
        const std::lock_guard lock(trials.mutex());
        report_unread(live, operands[i], Diagnostics::last_failure(), reports);
      });
}

}  // namespace smd::tool::rule
