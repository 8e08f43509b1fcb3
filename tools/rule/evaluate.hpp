// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "reports.hpp"
#include "requests/evaluation.hpp"
#include "requests/other_trials.hpp"
#include "requests/requests.hpp"

#include <smd/evaluator.hpp>
#include <smd/rule_result.hpp>
#include <smd/trial.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace smd::tool::rule {

/// What evaluating needs, whatever the trial.
struct EvaluationContext {
  const RuleCommandOptions& options;
  const std::vector<RuleRequest>& requests;
  OtherTrials& others;
  Diagnostics& messages;
  bool several_trials;
  std::function<bool()> stop;  ///< Whether to give up a command that a trigger runs.
  unsigned jobs;               ///< Threads; 0: one per CPU.
};

/// Which steps -s, -m and -w mean in a trial. Reports what is unavailable, with its status.
[[nodiscard]] EvaluationOptions evaluation_options(const EvaluationContext& context, Trial& trial);

/// The rules asked for, over one trial: adds them to an evaluator and reports what they find. When they begin again,
/// those whose results were reported do not, and a finding that is made again is not reported again.
class TrialEvaluation {
 public:
  /// If `reports` is null, nothing is evaluated (--explain).
  TrialEvaluation(const EvaluationContext& context, Trial& trial, std::string_view name, EvaluationOptions options,
                  RecordSink* reports);

  [[nodiscard]] Evaluator& evaluator() noexcept { return *evaluator_; }
  /// Reports the results; the evaluation is over. `running`: it ended before the trial's end, so that rules that found
  /// nothing are still in progress. `whole`: all steps that had to be evaluated again were; if not, reported findings
  /// at the other steps may still hold.
  void conclude(bool running = false, bool whole = true);
  /// Reports the results of rules that need no further steps, and how many reported findings no longer hold.
  void report_finished();
  /// Reports which rules the trial showed to be configured wrongly; status 2 if there are any.
  void report_refused();

 private:
  /// A finding, to compare it with others: its rule's number, where it is and what it says.
  using Found = std::tuple<std::size_t, std::optional<GlobalStep>, std::optional<std::string>,
                           std::optional<std::string>, std::string, std::uint64_t, std::string>;

  static Found key_of(std::size_t rule, const Finding& finding) {
    const auto bits = std::bit_cast<std::uint64_t>(finding.value);  // also a NaN is like itself
    return {rule, finding.step, finding.tensor, finding.worker, finding.check, bits, finding.message};
  }
  void found(std::size_t rule, const Finding& finding);
  void note_withdrawn(bool all);
  void report_results(bool only_finished, bool running);
  void report(std::size_t rule, RuleResult result);
  void report_problem(const Problem& problem);
  void complain(std::size_t rule, const RuleResult& result);
  [[nodiscard]] std::string of(const RuleResult& result) const;

  const EvaluationContext& context_;
  Trial& trial_;
  std::string name_;
  RecordSink* reports_;
  std::optional<Evaluator> evaluator_;
  std::vector<RuleResult> names_;                     // by rule: results with nothing but the names
  std::vector<bool> reported_;                        // by rule
  std::multiset<Found> found_before_;                 // before the last restart, and not again since
  std::set<std::string> missing_;                     // event files reported as missing
  std::vector<std::optional<GlobalStep>> triggered_;  // by rule: the step for which the command ran last
};

/// Evaluates what was saved so far. If a stop is requested, reports what was found by then.
void evaluate_trial(const EvaluationContext& context, Trial& trial, std::string_view name, const std::stop_token& stop,
                    RecordSink& reports);
/// Follows trials, all at once: each rule sees each step once it is complete. Ends when the jobs have ended, no rule
/// needs further steps, time is up (status 124), or a signal requests a stop; what was found by then is reported.
/// @throws UsageError for bad patterns.
void evaluate_live(const EvaluationContext& context, const std::vector<std::string>& operands, Reports& reports);
/// Reports results for a trial that cannot be read, or need not be: `why` is empty if no rule could be evaluated
/// anyway.
void report_unread(const EvaluationContext& context, std::string_view name, const std::string& why,
                   RecordSink& reports);

/// Reports what is wrong with requests, and what of them is not done here; status 2 if something is wrong.
void report_requests(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options,
                     Diagnostics& messages);

}  // namespace smd::tool::rule
