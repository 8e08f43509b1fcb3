// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/rule_parameter.hpp>
#include <smd/step.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd {

/// One thing that a rule found.
struct Finding {
  std::optional<GlobalStep> step = {};  ///< Nullopt only if the rule found something before it saw a step.
  Mode mode = Mode::global;
  ModeStep mode_step = {};
  std::optional<std::string> tensor = {};
  std::optional<std::string> worker = {};  ///< Nullopt if workers are pooled.
  bool several_workers = false;            ///< Whether the trial has several; set when the finding is reported.
  std::string check = {};                  ///< Which of the rule's conditions.
  double value = 0;                        ///< The measurement.
  std::string relation = {};               ///< How it compares with `threshold`: `<`, `>`, `<=`, `>=`.
  double threshold = 0;
  std::string message = {};  ///< `gradient/conv0: abs_mean 3e-09 < threshold 1e-07`. See `shown_message`.
  std::vector<std::pair<std::string, std::string>> details = {};  ///< Further evidence of some checks, by name.
};

/// Returns a finding's message for people: after `worker_2: ` if the trial has several workers and they are not pooled.
[[nodiscard]] SMD_EXPORT std::string shown_message(const Finding& finding);

enum class RuleStatus : std::uint8_t {
  no_issues_found,
  issues_found,
  error,
  in_progress,
  not_evaluated,  ///< Nothing was evaluated.
};

/// Returns `NoIssuesFound`, `IssuesFound`, `Error`, `InProgress`, `NotEvaluated`.
[[nodiscard]] SMD_EXPORT std::string_view to_string(RuleStatus status) noexcept;

/// Two tensors that a rule compares: Overfit and Overtraining do, if names tell training from validation.
struct TensorPair {
  std::string training;
  std::string validation;

  auto operator<=>(const TensorPair&) const = default;
};

/// The result of one rule.
struct RuleResult {
  std::string name = {};  ///< Of the configuration; by default the rule's.
  std::string rule = {};  ///< The rule's own name.
  RuleStatus status = RuleStatus::in_progress;
  std::vector<Finding> findings = {};  ///< By step, tensor and worker (in byte order, nullopt first).
  std::size_t steps_evaluated = 0;     ///< Steps (and closings at the end) at which something was evaluated.
  std::size_t steps_skipped = 0;       ///< Steps at which the rule was invoked and there was nothing to evaluate.
  std::optional<GlobalStep> first_step = {};  ///< First and last step at which something was evaluated.
  std::optional<GlobalStep> last_step = {};
  std::size_t tensors_matched = 0;  ///< Distinct tensors of the base trial that the rule requested.
  std::vector<std::pair<std::string, std::optional<std::string>>> params = {};  ///< The parameters in effect.
  std::vector<TensorPair> pairs = {};      ///< The pairs that were evaluated, by training, then validation.
  std::string action = {};                 ///< The rule's action text (`Rule::action`), which was not performed.
  std::string message = {};                ///< One line for people: what was found, or why nothing was evaluated.
  std::vector<std::string> warnings = {};  ///< An unknown collection, a stop not performed, ….
  /// Whether a warning says that the rule may have missed something; else they tell what is normal in healthy runs,
  /// such as a collection without tensors.
  bool doubtful = false;
  std::optional<ConfigurationErrorKind> error_kind = {};  ///< Set for a configuration error,
  std::string error_parameter = {};                       ///< together with the parameter, if the error concerns one.
  /// Number of files and records that could not be read: records that the rule requested (including those that may
  /// still appear), index files of steps in its range, and collections files if it selects by collection. If it is not
  /// 0, the status is `error`, or `issues_found` with a warning.
  std::size_t records_unread = 0;
  bool unread = false;                 ///< The status is `error` because of `records_unread`.
  std::vector<Problem> problems = {};  ///< What is wrong with these files, each problem once.
  double elapsed = 0;                  ///< Seconds spent in the rule itself, without reading, which rules share.
};

}  // namespace smd
