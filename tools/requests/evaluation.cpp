// SPDX-License-Identifier: Apache-2.0
#include "requests/evaluation.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace smd::tool {

namespace {

/// Thrown to leave an evaluation between two of its parts.
struct Interrupted {};

/// Evaluates what was saved so far. Returns false if a stop ended it early.
bool offer_saved(Evaluator& evaluator) {
  try {
    evaluator.offer();
    return true;
  } catch (const Interrupted&) {
    return false;
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::stopped) {
      throw;
    }
    return false;
  }
}

}  // namespace

void add_rule(Evaluator& evaluator, const RuleRequest& request, OtherTrials& others) {
  const RuleConfiguration& configuration = request.configuration;
  if (request.error) {
    evaluator.add_error(configuration.name, configuration.rule_to_invoke, *request.error);
    return;
  }
  std::unique_ptr<Rule> rule = request.make();
  std::vector<const Trial*> compared;
  const std::string parameter(other_parameter);
  if (request.other_trials > 0 && rule->parameters().has(parameter)) {
    std::string why;
    const Trial* const other = others.open(rule->parameters().text(parameter), why);
    if (other == nullptr) {
      evaluator.add_error(configuration.name, rule->name(),
                          ConfigurationError(ConfigurationErrorKind::bad_trial, why, parameter));
      return;
    }
    compared.push_back(other);
  }
  evaluator.add(std::move(rule), configuration.name, std::move(compared));
}

void watch_evaluation(EvaluationOptions& options, Progress& progress, std::stop_token stop) {
  options.progress = [&progress, stop = std::move(stop)](std::uint64_t done, std::uint64_t total) {
    progress.at(done, total);
    if (stop.stop_requested()) {
      throw Interrupted();
    }
  };
}

bool evaluate_saved(Evaluator& evaluator, const Trial& trial, std::optional<GlobalStep> end) {
  if (!offer_saved(evaluator)) {
    evaluator.finish(false);
    return false;
  }
  // If the trial goes on beyond the range, even unread, the rules must not take the end of the range for its end.
  const std::vector<GlobalStep> listed = trial.listed_steps();
  evaluator.finish(!(end && !listed.empty() && listed.back() >= *end));
  return true;
}

}  // namespace smd::tool
