// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/evaluated_trial.hpp"
#include "framework/nothing_evaluated.hpp"
#include "framework/step_context.hpp"

#include <smd/error.hpp>
#include <smd/evaluator.hpp>
#include <smd/rule.hpp>
#include <smd/rule_result.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smd::detail::rules {

/// Access of the evaluator to a rule's private members.
struct RuleAccess {
  [[nodiscard]] static const std::vector<TensorSelection>& selections(const Rule& rule) { return rule.selections_; }
  [[nodiscard]] static bool has_trial(const Rule& rule) noexcept { return rule.base_trial_ != nullptr; }
  [[nodiscard]] static StepContext& context(const StepTensors& step) { return *step.context_; }
  [[nodiscard]] static const RuleRun& run(const RuleSummary& summary) { return *summary.run_; }
};

/// One rule in an evaluation: its bounds, its state and its result.
class RuleRun {
 public:
  /// Adds its result to those of the evaluation.
  RuleRun(std::vector<RuleResult>& results, Rule* rule, std::unique_ptr<Rule> owned, std::string name,
          const EvaluationOptions& options);
  /// Adds the result of a configuration that cannot be evaluated.
  RuleRun(std::vector<RuleResult>& results, std::string name, std::string rule, const ConfigurationError& error);

  /// Called before the first step.
  void begin(const EvaluatedTrial& base, std::vector<const EvaluatedTrial*> others);
  /// Begins again, with a rule that has seen nothing.
  void restart(std::unique_ptr<Rule> rule);
  /// Called after the views took new snapshots.
  void resolve();

  /// Returns whether the rule must be invoked at a step; notes if the rule's end excludes the step.
  [[nodiscard]] bool wants(const SnapshotStep& step);
  /// Returns whether it may want further steps: it has not stopped, and its evaluation goes on.
  [[nodiscard]] bool active() const noexcept {
    return rule_ != nullptr && !stopped_ && result().status == RuleStatus::in_progress;
  }
  /// Returns whether no further step in its bounds will come. `marks_steps`: a step that has come is complete, also the
  /// last in the bounds. `whole`: nothing more comes to earlier steps.
  [[nodiscard]] bool past_end(bool marks_steps, GlobalStep whole) const noexcept {
    return (cut_ && whole >= end_.value_or(whole)) ||
           (marks_steps && end_ && last_ && last_->step.value + 1 >= end_->value);
  }
  /// Plans the rule at a step. `rows`: the rows of the step in the base trial, shared by all rules; filled here if
  /// empty.
  void plan(Window& window, const SnapshotStep& step, std::vector<SavedRow>& rows);
  /// Invokes the rule at the planned steps, in order, until it stops.
  void evaluate();
  void drop_plans() {
    plans_.clear();
    asks_again_ = false;
  }
  /// Returns whether the rule, when planned, asked to begin again.
  [[nodiscard]] bool asks_again() const noexcept { return asks_again_; }
  void tick(double seconds, bool new_data);
  void finish(bool complete, bool ended);

  [[nodiscard]] const std::deque<StepContext>& plans() const noexcept { return plans_; }
  /// Returns the rule's position among the evaluation's rules.
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] const RuleResult& result() const noexcept { return (*results_)[number_]; }
  /// Drops all but the first `most` findings.
  void keep_findings(std::size_t most);
  [[nodiscard]] const EvaluationOptions& options() const noexcept { return *options_; }
  [[nodiscard]] const EvaluatedTrial& base() const noexcept { return *base_; }
  [[nodiscard]] const std::vector<const EvaluatedTrial*>& others() const noexcept { return others_; }
  [[nodiscard]] const TensorSet& selected(SelectionId selection) const {
    return sets_.at(static_cast<std::size_t>(selection));
  }
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// Returns whether the rule, now finished, was invoked at all steps in its bounds, and none will be added.
  [[nodiscard]] bool whole() const noexcept { return whole_; }
  [[nodiscard]] const Rule& rule() const noexcept { return *rule_; }
  [[nodiscard]] std::span<const Trial* const> other_trials() const noexcept {
    return rule_ == nullptr ? std::span<const Trial* const>() : rule_->other_trials();
  }
  /// Returns the last step at which the rule was invoked.
  [[nodiscard]] const std::optional<SnapshotStep>& last() const noexcept { return last_; }
  /// Returns the name of the first parameter that is this text, or a list with it; empty if no parameter is.
  [[nodiscard]] std::string parameter_of(const std::string& item) const;
  /// Calls `visit` with each row of a trial (0: the base trial, n: the other trial n - 1) at steps in range.
  void for_each_row(std::size_t number, const std::function<void(SavedRow)>& visit) const;
  /// Returns a text about a worker as `shown_message` returns that of a finding.
  [[nodiscard]] std::string shown(const std::string& worker, const std::string& text) const;
  /// As `RuleSummary::saved`.
  [[nodiscard]] std::vector<std::string_view> saved_tensors(SelectionId selection, std::size_t number) const;

  // For StepContext, RuleEnd, RuleTick and RuleSummary:
  void add_finding(Finding finding);
  void count_evaluated();
  void evaluated_at_end() noexcept { evaluated_at_end_ = true; }
  /// `casts_doubt`: sets `RuleResult::doubtful`.
  void warn(std::string text, bool casts_doubt = true);
  /// Notes that two tensors were compared, or would be, if steps are only planned.
  void note_pair(const TensorPair& pair);
  void explain(std::string reason) { reason_ = std::move(reason); }
  void none_evaluated(std::string reason);
  /// Notes what was requested, and what of it could not be read. Called when a step is evaluated, so that the result
  /// does not depend on how far ahead steps are planned.
  void note_requests(const StepContext& plan);
  /// Asks to begin again: a name saved since changes what the rule would have looked at before.
  void ask_again() noexcept { asks_again_ = true; }

 private:
  /// Returns the result, to change it.
  [[nodiscard]] RuleResult& own() noexcept { return (*results_)[number_]; }
  void evaluate_plan(StepContext& plan);
  [[nodiscard]] bool in_range(GlobalStep number) const;
  [[nodiscard]] bool in_range(const SnapshotStep& step) const;
  /// Notes that a record that the rule read itself could not be read.
  void note_unread(const Problem& problem);
  void note_unread_files();
  /// Returns, for people, which of the requested tensors were skipped at all steps because rules look at real numbers
  /// alone. Without text if the rule looks at every tensor: text is saved beside numbers, and nobody expects a result
  /// of it. If something was evaluated, also those that were not saved as the rule needs them.
  [[nodiscard]] std::vector<std::string> skipped() const;
  void settle_status();
  /// Calls `call`, which runs code of the rule. An exception ends only this rule, unless `EvaluationOptions::rethrow`
  /// is set.
  template <class Call>
  void guarded(const Call& call);
  /// Invokes the rule at a step. Returns false if the step is skipped.
  bool invoke(StepContext& plan);
  void skip(const StepContext& plan, const Error& why) const;
  void refuse(const MatchLimit& error);
  void fail(std::string text, ConfigurationErrorKind kind, std::string parameter);
  [[nodiscard]] std::string why_nothing() const;
  void note_missing_collections();
  void note_unmatched_patterns();
  void note_incomplete_steps();
  void sort_from(std::size_t first);

  std::vector<RuleResult>* results_;
  std::size_t number_;
  Rule* rule_;
  std::unique_ptr<Rule> owned_;
  const EvaluationOptions* options_ = nullptr;
  std::optional<GlobalStep> start_;
  std::optional<GlobalStep> end_;
  const EvaluatedTrial* base_ = nullptr;
  std::vector<const EvaluatedTrial*> others_;
  std::vector<TensorSet> sets_;
  /// What `sets_` were made from: `EvaluatedTrial::names`, and how many selections there were.
  std::optional<std::pair<std::uint64_t, std::size_t>> resolved_;
  std::deque<StepContext> plans_;
  std::vector<bool> matched_;       // by tensor id of the base trial
  std::vector<bool> numbers_seen_;  // as above
  std::vector<bool> lacking_;       // as above
  Unread unread_;
  struct SkippedTensors {
    const EvaluatedTrial* trial = nullptr;
    std::set<std::uint32_t> tensors = {};  ///< Ids.
  };
  std::map<std::pair<Held, std::size_t>, SkippedTensors> skipped_;  // by what they hold and the trial's number
  bool looked_back_ = false;
  bool asks_again_ = false;
  bool step_unread_ = false;  // something requested at the current step
  std::optional<SnapshotStep> last_;
  bool planned_any_ = false;
  bool stopped_ = false;  // triggered, or done
  bool done_ = false;     // the rule needs no more steps
  bool cut_ = false;      // the rule's end excluded steps
  bool ended_ = false;
  bool whole_ = false;
  bool evaluated_at_end_ = false;
  std::string failure_;  // the message of the rule's exception
  std::string reason_;   // the rule's own reason why nothing was evaluated
};

/// The clock by which an evaluation waits, so that tests can set the time.
using SteadyClock = std::function<std::chrono::steady_clock::time_point()>;

/// The public `invoke_rule`, with a clock of the caller's choice.
RuleResult invoke_rule_by(const SteadyClock& now, Rule& rule, GlobalStep start_step, std::optional<GlobalStep> end_step,
                          bool raise_eval_cond, const WaitOptions& wait, WaitOutcome* outcome);

}  // namespace smd::detail::rules
