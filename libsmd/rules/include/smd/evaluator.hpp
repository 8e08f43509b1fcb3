// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/rule.hpp>
#include <smd/rule_result.hpp>
#include <smd/step.hpp>
#include <smd/wait.hpp>

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

/// Which steps, and when to stop. All limits narrow.
struct EvaluationOptions {
  std::optional<GlobalStep> start = {};               ///< Inclusive; wins over a rule's parameter `start_step`.
  std::optional<GlobalStep> end = {};                 ///< Exclusive; likewise.
  std::optional<std::vector<GlobalStep>> steps = {};  ///< Only these, ascending; wins over both parameters.
  bool parameter_bounds = true;           ///< `start_step` and `end_step` count where nothing wins over them.
  std::optional<Mode> mode = {};          ///< Only steps of this mode; `global` or none: all.
  std::vector<std::string> workers = {};  ///< Only what these saved; empty: all.
  bool keep_going = false;                ///< Go on after a step that triggered.
  bool follow = false;                    ///< The job is followed: `offer`, `tick`, `finish`.
  /// How long a rule may wait for a step of another trial (`CustomRule`); none: it does not wait.
  std::optional<WaitOptions> wait = {};
  /// What a rule throws leaves the evaluator, which can then only be asked for results. False: it ends that rule, as
  /// its failure.
  bool rethrow = false;
  /// How many findings of a rule its result keeps, at least one: the first. `on_finding` gets all.
  std::size_t most_findings = SIZE_MAX;
  /// How much memory values may take that rules look back at; what has no room is read again.
  std::uint64_t most_kept_bytes = std::uint64_t{256} << 20;
  unsigned jobs = 0;                 ///< Threads; 0: one per CPU.
  std::function<double()> now = {};  ///< Seconds since 1970; default: the system's clock.
  /// Each finding as it is made, with the number of its rule: by step, then rule. In the calling thread.
  std::function<void(std::size_t rule, const Finding&)> on_finding = {};
  /// Steps evaluated, of how many now available. In the calling thread.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

/// What an evaluation read of event files so far.
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

/// Evaluates many rules over one trial in one pass: of each step it gathers what all rules need, reads each record
/// once, in the order of the files, reduces it once for all, and invokes the rules side by side. The results are those
/// of each rule by itself.
///
///     Evaluator evaluator(trial);
///     evaluator.add(make_rule("VanishingGradient"));
///     evaluator.run();
///     for (const RuleResult& result : evaluator.results()) …
///
/// To follow a job: `offer` whenever the trial was refreshed, `tick` now and then, `finish` at the end.
/// Not for concurrent use. The trials are borrowed.
class SMD_EXPORT Evaluator {
 public:
  explicit Evaluator(const Trial& trial, EvaluationOptions options = {});
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// Adds a rule under a name (default: the rule's); returns its number. Sets its base trial, and its other trials if
  /// any are given.
  std::size_t add(std::unique_ptr<Rule> rule, std::string name = {}, std::vector<const Trial*> others = {});
  /// The same for a rule that the caller keeps and that outlives the evaluator.
  std::size_t add(Rule& rule, std::string name = {}, std::vector<const Trial*> others = {});
  /// Adds what is none, so that results stand in the order of the configurations.
  std::size_t add_error(std::string name, std::string rule, const ConfigurationError& error);

  /// Evaluates all steps that are available and ends.
  /// @throws ReadError if the trial cannot be listed any more, or if `RemoteOptions::stop` ended a request (then of
  /// kind stopped; the steps that it was for are not evaluated); MatchLimit.
  void run();

  /// Evaluates the steps that have become available since, up to and including `last`, and freezes its view of the
  /// trial meanwhile. What is not saved at them now never counts. @throws as `run`.
  void offer(std::optional<GlobalStep> last = {});
  /// Tells rules that watch the clock that time has gone by. `seconds` is that of a steady clock.
  void tick(double seconds, bool new_data);
  /// No more steps come. `complete`: all steps of the trial were offered, so that rules may close what is open.
  void finish(bool complete = true);

  /// Whether no rule wants to see another step.
  [[nodiscard]] bool all_done() const noexcept;
  /// One a rule, in the order in which they were added. `InProgress` until the end, or
  /// until the rule wants to see nothing more.
  /// Valid until the next call of a member that is not const.
  [[nodiscard]] const std::vector<RuleResult>& results() const;
  [[nodiscard]] ReadCounters counters() const noexcept;

  /// Calls `visit` for all that would be read at the steps now available, by step, then rule; reads nothing. Rules that
  /// stop early would read less.
  void plan(const std::function<void(const PlannedRead&)>& visit);

  /// For the library's own use.
  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Evaluates one rule as the reference does: at each step from `start_step` (inclusive) to `end_step` (exclusive; none:
/// to the end of the job). While the job runs it waits for the next step. With `raise_eval_cond` it ends at the first
/// step at which the condition is met; without, it logs each such step (`log.hpp`) and goes on. The rule's trials must
/// have been set.
/// @throws RuleEvaluationConditionMet (only with `raise_eval_cond`); NoMoreData if the job has ended before the step
/// that comes before `end_step`; what the rule throws, StepNotYetAvailable among it, but for what skips a step
/// (TensorUnavailable, TensorUnavailableForStep, StepUnavailable) or could not be read (ReadError, a problem of the
/// result); and as `Evaluator::run` and `StepFollower::next`.
SMD_EXPORT RuleResult invoke_rule(Rule& rule, GlobalStep start_step = {}, std::optional<GlobalStep> end_step = {},
                                  bool raise_eval_cond = false);

/// The same, with a deadline and a stop token: the evaluation ends there too, and the result is then `InProgress`, with
/// what was found so far. `outcome`, if given, says how it ended: `reached` (`end_step`, or the rule wants to see no
/// more), `ended` (the job), `timed_out` or `stopped`.
SMD_EXPORT RuleResult invoke_rule(Rule& rule, GlobalStep start_step, std::optional<GlobalStep> end_step,
                                  bool raise_eval_cond, const WaitOptions& wait, WaitOutcome* outcome = nullptr);

}  // namespace smd
