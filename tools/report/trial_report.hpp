// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <smd/evaluator.hpp>
#include <smd/rule_result.hpp>
#include <smd/trial.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "draw/chart.hpp"
#include "histories.hpp"
#include "select/selection.hpp"

namespace smd::tool::report {

/// How many findings of a rule the page lists.
inline constexpr std::size_t listed_findings = 20;

/// A finding as a figure marks it.
struct FindingMark {
  GlobalStep step;
  std::string message;
};

/// What a rule found of one tensor.
struct TensorFindings {
  std::size_t count = 0;
  std::vector<FindingMark> marks = {};  ///< Of the findings at a step, the first and then one in so many.
};

/// What a rule found, in bounded memory: all findings are counted; of each tensor, the first and then one in every N is
/// kept, where N doubles when there are many.
class FindingTally {
 public:
  void add(const Finding& finding);

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// By tensor; findings about no tensor have the empty name.
  [[nodiscard]] const std::map<std::string, TensorFindings, std::less<>>& tensors() const noexcept { return tensors_; }

 private:
  std::size_t count_ = 0;
  std::size_t every_ = 1;
  std::size_t marks_ = 0;
  std::map<std::string, TensorFindings, std::less<>> tensors_;
};

/// What one worker wrote.
struct WorkerFacts {
  std::size_t steps = 0;
  GlobalStep last_step = {};
};

/// What is known of a trial as such.
struct TrialFacts {
  std::string layout = {};
  std::string status = {};   ///< `running`, `ended`, `unknown`.
  std::string written = {};  ///< The time of its newest record; empty: unknown.
  std::size_t tensors = 0;
  std::size_t steps = 0;  ///< Complete or not.
  std::optional<GlobalStep> first_step = {};
  std::optional<GlobalStep> last_step = {};
  std::optional<GlobalStep> last_complete = {};
  std::uint64_t bytes = 0;
  std::uint64_t superseded = 0;
  std::vector<std::string> modes = {};
  std::vector<std::string> collections = {};
  bool has_weights = false;  ///< Also if none is selected.
  std::map<std::string, WorkerFacts> workers = {};
  std::optional<std::int64_t> exit_code = {};
  std::map<std::string, std::string> hyperparameters = {};  ///< Name to JSON text.
  std::vector<std::string> alerts = {};                     ///< That the job sent.
  std::vector<std::string> problems = {};                   ///< What is wrong, each once.
  std::vector<std::string> scalars = {};  ///< That a log has, without losses, metrics of the machine and epochs.
  std::string lost_loss = {};             ///< Why values of a loss, by its name, are not there.
  std::string incomplete = {};            ///< Which steps wait for a worker, and what was asked for and is not shown.
  std::vector<std::string> notes = {};    ///< What was left out, or chosen, though nothing is wrong.
};

/// How many pictures and texts the page shows.
inline constexpr std::size_t most_media = 24;

/// A picture, by the bytes of its file, or a text that the job logged.
struct LoggedMedia {
  std::string tensor;
  GlobalStep step;
  std::string bytes = {};
  std::string_view picture = {};  ///< `png`, `jpg` or `gif`; empty: a text.
};

/// Everything that the page shows of one trial, as plain data.
struct TrialReport {
  std::string name;        ///< As on the command line.
  std::string label = {};  ///< The same without the folder that all trials of the page are in.
  TrialFacts facts = {};
  Histories histories = Histories();
  std::map<std::string, HeatMap> buckets = {};  ///< Saved ones, by tensor.
  std::vector<LoggedMedia> media = {};          ///< The first and the last of each tag; some.
  std::vector<RuleResult> results = {};         ///< Of the rules asked for, or that had something to evaluate.
  std::vector<FindingTally> tallies = {};       ///< All findings of each of these results, which list the first.
  /// Of the built-in rules, those that had nothing to evaluate, and no warning that casts doubt.
  std::vector<RuleResult> passed_over = {};
  std::vector<TensorPair> pairs = {};  ///< Losses of training and validation, paired by name.
  std::string unread = {};             ///< Why the trial could not be read; empty: it was.

  /// What one tensor did; null if nothing was gathered of it.
  [[nodiscard]] const TensorHistory* history(std::string_view tensor) const;
  /// The results, then those passed over.
  [[nodiscard]] std::vector<const RuleResult*> all_results() const;
};

/// The pictures and texts of a page, by the collections that logs have for them. What cannot be read is left out.
[[nodiscard]] std::vector<LoggedMedia> logged_media(const Trial& trial, const SelectionOptions& selection,
                                                    const EvaluationOptions& steps);

/// The buckets that a job saved in place of values, by tensor: of a few tensors, in byte order, and at no more steps
/// than a heat map shows, the first and the last among them. They are no numbers, so that rules do not read them.
/// What cannot be read is left out.
[[nodiscard]] std::map<std::string, HeatMap> saved_histograms(const Trial& trial, const Histories& histories,
                                                              const EvaluationOptions& steps);

/// Reads nothing of event files.
[[nodiscard]] TrialFacts facts_of(const Trial& trial);

/// What became of one loss: of all workers its last and its least value, as smd-runs has them, else of the first one.
struct LossFacts {
  std::string tensor;
  std::string mode;  ///< ` (train)`, if the trial saved it in several.
  CurveFacts facts;

  [[nodiscard]] std::string name() const { return tensor + mode; }
};
/// The losses of a trial, by name; none if it was not read.
[[nodiscard]] std::vector<LossFacts> losses_of(const TrialReport& trial);

/// Where NaN or an infinity came first; nullopt if nowhere.
struct FirstNotFinite {
  std::string_view tensor;
  GlobalStep step;
};
[[nodiscard]] std::optional<FirstNotFinite> first_not_finite(const TrialReport& trial);

}  // namespace smd::tool::report
