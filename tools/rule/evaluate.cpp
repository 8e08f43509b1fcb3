// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include "cli/mapped.hpp"
#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "command_group.hpp"
#include "select/explanations.hpp"

#include <algorithm>
#include <memory>

namespace smd::tool::rule {

namespace {

/// What a triggered result adds if its configuration asked for StopTraining, which a file of rules alone does not
/// perform. Empty if it did not ask, or if -p did.
std::string stop_not_performed(const RuleRequest& request, const RuleResult& result) {
  const auto value_of = [&](std::string_view name) -> std::optional<std::string> {
    const auto at = std::ranges::find_if(result.params, [&](const auto& parameter) { return parameter.first == name; });
    return at == result.params.end() ? std::nullopt : at->second;
  };
  if (!request.stop_withheld || result.findings.empty() || value_of(stop_parameter) != "False") {
    return {};
  }
  const std::optional<std::string> prefix = value_of(prefix_parameter);
  return "StopTraining was asked for" + (prefix ? ", of jobs named " + *prefix + "..., and" : std::string(" and")) +
         " was not performed: a file of rules alone stops no job";
}

}  // namespace

EvaluationOptions evaluation_options(const EvaluationContext& context, Trial& trial) {
  const RuleCommandOptions& given = context.options;
  EvaluationOptions options;
  options.follow = given.following.follow;
  options.keep_going = given.keep_going;
  options.jobs = context.jobs;
  if (given.now) {
    options.now = [now = *given.now] { return now; };
  }
  choose_steps(options, given.selection, trial, context.messages);
  return options;
}

TrialEvaluation::TrialEvaluation(const EvaluationContext& context, Trial& trial, std::string_view name,
                                 EvaluationOptions options, RecordSink* reports)
    : context_(context), trial_(trial), name_(name), reports_(reports) {
  if (reports != nullptr) {
    options.on_finding = [this](std::size_t rule, const Finding& finding) { found(rule, finding); };
  }
  options.make_again = [this](std::size_t rule) {
    std::unique_ptr<Rule> fresh = reported_[rule] ? nullptr : context_.requests[rule].make_again();
    if (fresh) {
      for (const Finding& finding : evaluator_->results()[rule].findings) {
        found_before_.insert(key_of(rule, finding));
      }
      triggered_[rule].reset();
    }
    return fresh;
  };
  evaluator_.emplace(trial, std::move(options));
  context.others.allow(name);  // operands may also come from standard input
  for (const RuleRequest& request : context.requests) {
    add_rule(*evaluator_, request, context.others);
  }
  names_ = evaluator_->results();
  triggered_.resize(context.requests.size());
  reported_.resize(context.requests.size());
}

void TrialEvaluation::found(std::size_t rule, const Finding& finding) {
  if (found_before_.extract(key_of(rule, finding))) {
    return;
  }
  const ReportRecord record = {RecordKind::finding, name_, names_[rule], &finding};
  reports_->take(record);
  // One command for each step, however many tensors are concerned.
  const GlobalStep step = finding.step.value_or(GlobalStep(-1));
  if (context_.options.on_trigger && triggered_[rule] != step) {
    triggered_[rule] = step;
    run_on_trigger({*context_.options.on_trigger, context_.options.trigger_timeout, context_.stop}, record,
                   context_.messages);
  }
}

void TrialEvaluation::conclude(bool running, bool whole) {
  note_withdrawn(whole);
  report_results(false, running);
}

/// Notes how many reported findings were not made again when their rules evaluated their steps again. `all`: also those
/// whose steps were not evaluated again, because they are superseded.
void TrialEvaluation::note_withdrawn(bool all) {
  const std::vector<RuleResult>& results = evaluator_->results();
  std::vector<std::size_t> withdrawn(results.size());
  std::erase_if(found_before_, [&](const Found& found) {
    const std::size_t rule = std::get<0>(found);
    const std::optional<GlobalStep> step = std::get<1>(found);
    const bool over = all || (step && step <= results[rule].last_step);
    withdrawn[rule] += over ? 1 : 0;
    return over;
  });
  for (std::size_t rule = 0; rule < results.size(); ++rule) {
    if (withdrawn[rule] > 0) {
      context_.messages.note(of(results[rule]) +
                             counted(withdrawn[rule], "earlier finding", "no longer holds", "no longer hold") +
                             ": the steps were evaluated again");
    }
  }
}

void TrialEvaluation::report_finished() {
  note_withdrawn(false);
  report_results(true, false);
}

void TrialEvaluation::report_results(bool only_finished, bool running) {
  const std::vector<RuleResult>& results = evaluator_->results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (reported_[i] || (only_finished && results[i].status == RuleStatus::in_progress)) {
      continue;
    }
    reported_[i] = true;
    RuleResult result = results[i];
    // The trial to compare with may be missing only because a signal ended the wait for it.
    const bool waited = result.error_kind == ConfigurationErrorKind::bad_trial && context_.others.interrupted();
    if (waited || (running && !result.error_kind &&
                   (result.status == RuleStatus::no_issues_found || result.status == RuleStatus::not_evaluated))) {
      result.status = RuleStatus::in_progress;
      result.message.clear();
      result.error_kind.reset();
      result.error_parameter.clear();
    }
    report(i, std::move(result));
  }
}

void TrialEvaluation::report_refused() {
  const std::vector<RuleResult>& results = evaluator_->results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    complain(i, results[i]);
  }
}

/// What a message about a result begins with.
std::string TrialEvaluation::of(const RuleResult& result) const {
  return (context_.several_trials ? name_ + ": " : std::string()) + result.name + ": ";
}

/// Reports a parameter that only the trial showed to be wrong. Other errors of a rule have been reported.
void TrialEvaluation::complain(std::size_t rule, const RuleResult& result) {
  if (result.error_kind == ConfigurationErrorKind::bad_value && !context_.requests[rule].error) {
    context_.messages.fail("Usage", of(result) + result.message, ExitStatus::usage);
  }
}

void TrialEvaluation::report_problem(const Problem& problem) {
  Problem shown = problem;
  if (problem.kind == ProblemKind::not_yet && !context_.options.following.follow) {
    shown.kind = ProblemKind::absent;  // without --follow nothing is waited for: it is missing
  }
  if (shown.kind != ProblemKind::absent) {
    context_.messages.report_once(shown, trial_.path());
  } else if (missing_.insert(to_string(shown)).second) {  // three such files are named, the rest is counted
    context_.messages.report_record(shown, trial_.path(), {}, Level::warning);
  }
  context_.messages.raise(status_of(problem.kind));
}

void TrialEvaluation::report(std::size_t rule, RuleResult result) {
  Diagnostics& messages = context_.messages;
  if (const std::string withheld = stop_not_performed(context_.requests[rule], result); !withheld.empty()) {
    add_once(result.warnings, withheld);
  }
  complain(rule, result);
  const std::vector<Problem> of_trial = result.warnings.empty() ? std::vector<Problem>() : trial_.problems();
  for (const std::string& warning : result.warnings) {
    // Problems of the trial are reported once, for all rules.
    if (std::ranges::none_of(of_trial, [&](const Problem& problem) { return to_string(problem) == warning; })) {
      messages.warning(of(result) + warning);
    }
  }
  for (const Problem& problem : result.problems) {
    report_problem(problem);
  }
  messages.say_missing();
  if (context_.options.findings_only && !result.error_kind &&
      (result.unread || result.status == RuleStatus::not_evaluated)) {
    messages.warning(of(result) + std::string(to_string(result.status)) + ": " + result.message);
  }
  const bool raised = result.error_kind == ConfigurationErrorKind::exception && !context_.requests[rule].error;
  if (raised || (result.status == RuleStatus::error && !result.unread && !result.error_kind)) {
    messages.warning(of(result) + result.message);  // a user's own rule threw
  }
  // Errors of a configuration, or of another trial, already have their status.
  if (raised || !result.error_kind) {
    messages.raise(result_status(result));
  }
  const Finding* const first = result.findings.empty() ? nullptr : &result.findings.front();
  reports_->take({RecordKind::result, name_, result, first, result.findings.size()});
}

void evaluate_trial(const EvaluationContext& context, Trial& trial, std::string_view name, const std::stop_token& stop,
                    RecordSink& reports) {
  EvaluationOptions options = evaluation_options(context, trial);
  Progress progress("evaluating steps", 0);
  watch_evaluation(options, progress, stop);
  const std::optional<GlobalStep> end = options.end;
  if (!options.steps && trial.listed_steps().empty()) {  // if none are selected, that was reported
    report_no_step(trial, context.messages, ExitStatus::nothing_evaluated);
  }
  TrialEvaluation evaluation(context, trial, name, std::move(options), &reports);
  evaluation.conclude(!evaluate_saved(evaluation.evaluator(), trial, end));
}

void report_unread(const EvaluationContext& context, std::string_view name, const std::string& why,
                   RecordSink& reports) {
  for (const RuleRequest& request : context.requests) {
    RuleResult result{.name = request.name(),
                      .rule = request.configuration.rule_to_invoke,
                      .status = RuleStatus::error,
                      .message = why,
                      .error_kind = ConfigurationErrorKind::bad_trial};
    if (request.error) {
      result.error_kind = request.error->kind;
      result.error_parameter = request.error->parameter;
      result.message = request.error->what();
      if (evaluated_elsewhere(request.error->kind)) {
        result.status = RuleStatus::not_evaluated;
      }
    }
    reports.take({RecordKind::result, name, result, nullptr});
  }
}

void report_requests(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options,
                     Diagnostics& messages) {
  bool other_used = false;
  for (const RuleRequest& request : requests) {
    const RuleConfiguration& configuration = request.configuration;
    other_used = other_used || configuration.parameters.contains(std::string(other_parameter));
    if (request.error) {
      const ConfigurationErrorKind kind = request.error->kind;
      const bool raised = kind == ConfigurationErrorKind::exception;
      if (raised || evaluated_elsewhere(kind)) {
        messages.warning(request.error->what());
        messages.raise(raised ? ExitStatus::damaged : ExitStatus::yes);
      } else {
        const bool unnamed = request.file.empty() && kind != ConfigurationErrorKind::unknown_rule;
        messages.fail("Usage", (unnamed ? request.name() + ": " : "") + request.error->what(), ExitStatus::usage);
      }
      continue;
    }
    if (!configuration.action_json.empty()) {
      messages.note(request.name() + ": its action_json is not performed here" +
                    (options.on_trigger ? "" : "; --on-trigger CMD runs a command"));
    }
    const std::unique_ptr<Rule> rule = make_rule(configuration);
    const bool stops = rule->parameters().has(stop_parameter) && rule->parameters().boolean(stop_parameter);
    if (!options.on_trigger && (stops ? !rule->parameters().has(prefix_parameter) : request.stop_withheld)) {
      messages.warning(
          request.name() +
          ": stop_training_on_fire stops nothing: give --on-trigger CMD, a command that stops the job, or, "
          "for a SageMaker job, -p stop_training_on_fire=True and -p training_job_name_prefix=NAME");
    }
  }
  if (options.other && !other_used) {
    messages.warning("--other: no rule asked for compares two trials");
  }
}

}  // namespace smd::tool::rule
