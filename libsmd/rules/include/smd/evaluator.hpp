// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>
#include <smd/export.hpp>
#include <smd/rule.hpp>
#include <smd/rule_result.hpp>
#include <smd/step.hpp>
#include <smd/trial_options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

class Trial;

/// The condition of a rule is met.
class SMD_EXPORT RuleEvaluationConditionMet : public Error {
 public:
  RuleEvaluationConditionMet(const std::string& message, std::string in_rule, GlobalStep in_step)
      : Error("RuleEvaluationConditionMet", message), rule(std::move(in_rule)), step(in_step) {}
  ~RuleEvaluationConditionMet() override;

  std::string rule;
  GlobalStep step;
};

/// Which steps to evaluate, and when to stop. A step must be within all limits.
struct EvaluationOptions {
  std::optional<GlobalStep> start = {};               ///< Inclusive; overrides a rule's parameter `start_step`.
  std::optional<GlobalStep> end = {};                 ///< Exclusive; overrides a rule's parameter `end_step`.
  std::optional<std::vector<GlobalStep>> steps = {};  ///< Only these, ascending.
  bool parameter_bounds = true;           ///< Whether the parameters `start_step` and `end_step` count at all.
  std::optional<Mode> mode = {};          ///< Only steps of this mode; `global` or nullopt: all.
  std::vector<std::string> workers = {};  ///< Only what these workers saved; empty: all.
  bool keep_going = false;                ///< Go on after a step at which the rule triggered.
  bool follow = false;                    ///< Whether a running job is followed, with `offer`, `tick` and `finish`.
  /// How long a rule may wait for a step of another trial (`CustomRule`); nullopt: it does not wait.
  std::optional<WaitOptions> wait = {};
  /// Whether the evaluator rethrows what a rule throws; afterwards only its results may be queried. False: the
  /// exception ends that rule, as its failure.
  bool rethrow = false;
  /// How many findings a rule's result keeps: the first ones, at least one. `on_finding` receives all.
  std::size_t most_findings = SIZE_MAX;
  /// Memory for the values that rules look back at; values that do not fit are read again.
  std::uint64_t most_kept_bytes = std::uint64_t{256} << 20;
  unsigned jobs = 0;                 ///< Threads; 0: one per CPU, and for reading as many as the trial uses.
  std::function<double()> now = {};  ///< Seconds since 1970; default: the system's clock.
  /// Receives each finding, with the number of its rule, by step, then rule. Called in the calling thread.
  std::function<void(std::size_t rule, const Finding&)> on_finding = {};
  /// Returns a new rule in place of one that begins again. All rules begin again at `Evaluator::restart`, and after a
  /// name that was saved late changes which tensors one of them compares at earlier steps. The evaluator postpones the
  /// latter so that it takes at most about a tenth of the time, but not beyond `Evaluator::finish`; until then it
  /// evaluates no step. Null: that rule goes on after the last step that it has seen, and may have to name what it
  /// needs of a step twice. Not given: all go on.
  std::function<std::unique_ptr<Rule>(std::size_t rule)> make_again = {};
  /// Receives the number of steps evaluated, and of those now available. Called in the calling thread.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

/// What an evaluation has read from event files so far.
struct ReadCounters {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  ///< Sum of the records' lengths.
};

/// One thing that a rule would read at a step.
struct PlannedRead {
  std::size_t rule = 0;
  GlobalStep step;        ///< The step evaluated,
  GlobalStep read_step;   ///< and that of the record: the same or an earlier one.
  std::size_t trial = 0;  ///< 0: the base trial, n: the other trial n-1.
  std::string_view tensor;
  std::string_view worker;
  std::string what;  ///< `value`; `abs_mean of value` (computed); `saved abs_mean`; `wall time`.
};

/// Evaluates many rules over one trial in one pass: for each step, gathers what all rules need, reads each record once,
/// in the order of the files, reduces it once for all rules, and invokes the rules in parallel. The results are the
/// same as if each rule were evaluated alone.
///
///     Evaluator evaluator(trial);
///     evaluator.add(make_rule("VanishingGradient"));
///     evaluator.run();
///     for (const RuleResult& result : evaluator.results()) …
///
/// To follow a job: call `offer` whenever the trial was refreshed, `tick` from time to time, `finish` at the end. Not
/// for concurrent use. Borrows the trials.
class SMD_EXPORT Evaluator {
 public:
  explicit Evaluator(const Trial& trial, EvaluationOptions options = {});
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// Adds a rule under a name (default: the rule's); returns its number. Sets its base trial and its other trials.
  std::size_t add(std::unique_ptr<Rule> rule, std::string name = {}, std::vector<const Trial*> others = {});
  /// As above, for a rule that the caller keeps and that must outlive the evaluator. If `others` is empty, the rule
  /// keeps its other trials.
  std::size_t add(Rule& rule, std::string name = {}, std::vector<const Trial*> others = {});
  /// Adds a result for a configuration that makes no rule, so that results are in the order of the configurations.
  std::size_t add_error(std::string name, std::string rule, const ConfigurationError& error);

  /// Evaluates all steps that are available, and ends the evaluation.
  /// @throws ReadError if the trial cannot be listed any more, or if `RemoteOptions::stop` ended a request (kind
  /// stopped; the steps that need the request are not evaluated); MatchLimit.
  void run();

  /// Evaluates the steps that have become available since the last call, up to and including `last`, with the trial as
  /// it is now. What is saved at these steps later counts only after a `restart`. @throws as `run`.
  /// @param compared The last step for rules that compare with other trials, at most `last`; nullopt: `last`.
  void offer(std::optional<GlobalStep> last = {}, std::optional<GlobalStep> compared = {});
  /// Begins again, with rules from `EvaluationOptions::make_again` in place of those that are not misconfigured, so
  /// that the next `offer` evaluates all steps from the first.
  void restart();
  /// Informs rules of the time, for those that watch it. `seconds` is the time of a steady clock. @throws as `run`.
  /// @param whole Nothing more comes to earlier steps, so that a rule whose range ends there, or before, is over. In a
  /// log, another file may bring steps late.
  void tick(double seconds, bool new_data, GlobalStep whole = GlobalStep(INT64_MAX));
  /// Ends the evaluation. `complete`: all steps of the trial were offered, so that rules may close what is open.
  /// @throws as `run`, if steps are evaluated again (`EvaluationOptions::make_again`); a second call then finishes
  /// without these.
  void finish(bool complete = true);

  /// Returns whether no rule wants another step. While a job is followed, none wants one after the end of its range.
  [[nodiscard]] bool all_done() const noexcept;
  /// Returns one result for each rule, in the order in which they were added. The status is `InProgress` until the
  /// evaluation ends, or until the rule wants no more steps. Valid until the next call of a member that is not const.
  [[nodiscard]] const std::vector<RuleResult>& results() const;
  [[nodiscard]] ReadCounters counters() const noexcept;

  /// Calls `visit` for everything that would be read at the steps now available, by step, then rule; reads nothing. A
  /// rule that stops early would read less.
  void plan(const std::function<void(const PlannedRead&)>& visit);

  /// For the library's own use.
  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Evaluates one rule as the reference does: at each step from `start_step` (inclusive) to `end_step` (exclusive;
/// nullopt: to the end of the job). While the job runs, waits for the next step, and until each of the rule's other
/// trials has come to it or has ended. In a layout without step files, evaluates a step once it is whole
/// (`FollowOptions::whole_before`). With `raise_eval_cond`, ends at the first step at which the condition is met;
/// without it, logs each such step (`log.hpp`) and goes on. Precondition: the rule's trials are set.
/// @throws RuleEvaluationConditionMet (only with `raise_eval_cond`); NoMoreData if the job has ended before the step
/// that comes before `end_step`; what the rule throws, including StepNotYetAvailable, except for what skips a step
/// (TensorUnavailable, TensorUnavailableForStep, StepUnavailable, and ReadError, which is a problem of the result); and
/// as `Evaluator::run` and `StepFollower::next`.
SMD_EXPORT RuleResult invoke_rule(Rule& rule, GlobalStep start_step = {}, std::optional<GlobalStep> end_step = {},
                                  bool raise_eval_cond = false);

/// As above, with a deadline and a stop token, which also end the evaluation: the result is then `InProgress`, with
/// what was found so far. `outcome`, if given, says how it ended: `reached` (`end_step`, or the rule wants no more
/// steps), `ended` (the job), `timed_out` or `stopped`.
SMD_EXPORT RuleResult invoke_rule(Rule& rule, GlobalStep start_step, std::optional<GlobalStep> end_step,
                                  bool raise_eval_cond, const WaitOptions& wait, WaitOutcome* outcome = nullptr);

}  // namespace smd
