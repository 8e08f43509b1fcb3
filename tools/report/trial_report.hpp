// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <smd/evaluator.hpp>
#include <smd/rule_result.hpp>
#include <smd/trial.hpp>
#include <string>
#include <utility>
#include <vector>

#include "draw/chart.hpp"
#include "finding_tally.hpp"
#include "histories.hpp"
#include "select/selection.hpp"

namespace smd::tool::report {

/// What one worker wrote.
struct WorkerFacts {
  std::string name;
  std::size_t steps = 0;
  GlobalStep last_step = {};
};

/// What is known of a trial as such.
struct TrialFacts {
  std::string layout = {};
  std::string status = {};   ///< `running`, `ended`, `unknown`.
  std::string written = {};  ///< The time of its newest record; empty: unknown.
  bool has_modes = true;
  std::size_t tensors = 0;
  std::size_t steps = 0;  ///< Complete or not.
  std::optional<GlobalStep> first_step = {};
  std::optional<GlobalStep> last_step = {};
  std::optional<GlobalStep> last_complete = {};
  std::uint64_t bytes = 0;
  std::uint64_t superseded = 0;
  std::vector<std::string> modes = {};
  std::vector<std::string> collections = {};
  std::vector<WorkerFacts> workers = {};
  std::optional<std::int64_t> exit_code = {};
  std::map<std::string, std::string> hyperparameters = {};  ///< Name to JSON text.
  std::vector<std::string> alerts = {};                     ///< That the job sent.
  std::vector<std::string> problems = {};                   ///< What is wrong, each once.
};

/// A picture, by the bytes of its file, or a text that the job logged.
struct LoggedMedia {
  std::string tensor;
  GlobalStep step;
  std::string bytes = {};
};

/// Everything that the page shows of one trial, as plain data.
struct TrialReport {
  std::string name;        ///< As on the command line.
  std::string label = {};  ///< The same without the folder that all trials of the page are in.
  TrialFacts facts = {};
  std::shared_ptr<const Histories> histories = {};
  std::map<std::string, HeatMap> buckets = {};  ///< Saved ones, by tensor.
  std::vector<LoggedMedia> media = {};          ///< The first and the last of each tag; some.
  std::vector<RuleResult> results = {};         ///< Of the rules asked for, or that had something to evaluate.
  std::vector<FindingTally> tallies = {};       ///< All findings of each of these results, which list the first.
  std::vector<RuleResult> passed_over = {};     ///< Of the built-in rules, those that had nothing to evaluate.
  std::vector<TensorPair> pairs = {};           ///< Losses of training and validation, paired by name.
  std::string unread = {};                      ///< Why the trial could not be read; empty: it was.

  [[nodiscard]] bool running() const { return facts.status == "running"; }
};

/// The pictures and texts of a page, by the collections that logs have for them. What cannot be read is left out.
[[nodiscard]] std::vector<LoggedMedia> logged_media(const Trial& trial, const SelectionOptions& selection,
                                                    const EvaluationOptions& steps);

/// Reads nothing of event files.
[[nodiscard]] TrialFacts facts_of(const Trial& trial);

}  // namespace smd::tool::report
