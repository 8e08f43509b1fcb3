// SPDX-License-Identifier: Apache-2.0
#include "judge.hpp"

#include "cli/progress.hpp"
#include "trigger.hpp"

#include <algorithm>

namespace smd::tool::rule {

StepRange range_to_judge(const SelectionOptions& selection) {
  const std::optional<PlainRange> range = plain_range(selection);
  return range && range->end ? StepRange::between(GlobalStep(0), range->end) : StepRange();
}

EvaluationOptions evaluation_options(const Judgement& judgement, Trial& trial) {
  const SelectionOptions& selection = judgement.options.selection;
  EvaluationOptions options;
  options.follow = judgement.options.following.follow;
  options.keep_going = judgement.options.keep_going;
  options.jobs = judgement.options.reading.jobs;
  if (judgement.options.now) {
    options.now = [now = *judgement.options.now] { return now; };
  }
  if (!options.follow) {
    static_cast<void>(check_worker(trial, selection, judgement.messages));
  }
  if (selection.worker) {
    options.workers = {*selection.worker};
  }
  options.parameter_bounds = !selection.steps;
  if (const std::optional<PlainRange> range = plain_range(selection)) {
    options.start = range->start;
    options.end = range->end;
    return options;
  }
  const std::vector<Mode> saved = trial.modes();
  const bool one_mode = !selection.steps && selection.modes.size() == 1;
  if (one_mode && (options.follow || std::find(saved.begin(), saved.end(), selection.modes.front()) != saved.end())) {
    options.mode = selection.modes.front();
    return options;
  }
  std::vector<GlobalStep> steps;
  for (const SelectedStep& step : select_steps(trial, selection, StepSpec(), judgement.messages)) {
    steps.push_back(step.step);
  }
  // Rules may look back at what lies before the steps chosen.
  trial.load_range(StepRange());
  options.steps = std::move(steps);
  return options;
}

TrialJudge::TrialJudge(const Judgement& judgement, Trial& trial, std::string_view name, EvaluationOptions options,
                       Reports* reports)
    : judgement_(judgement), trial_(trial), name_(name), reports_(reports) {
  if (reports != nullptr) {
    options.on_finding = [this](std::size_t rule, const Finding& finding) { found(rule, finding); };
  }
  evaluator_.emplace(trial, std::move(options));
  judgement.others.allow(name);  // operands may also come from standard input
  for (const RuleRequest& request : judgement.requests) {
    add(request);
  }
  names_ = evaluator_->results();
  triggered_.resize(judgement.requests.size());
  reported_.resize(judgement.requests.size());
}

void TrialJudge::add(const RuleRequest& request) {
  const RuleConfiguration& configuration = request.configuration;
  if (request.error) {
    evaluator_->add_error(configuration.name, configuration.rule_to_invoke, *request.error);
    return;
  }
  std::unique_ptr<Rule> rule = request.make();
  std::vector<const Trial*> others;
  if (request.other_trials > 0) {
    std::string why;
    const Trial* const other = judgement_.others.open(rule->parameters().text("other_trial"), why);
    if (other == nullptr) {
      evaluator_->add_error(configuration.name, rule->name(),
                            ConfigurationError(ConfigurationErrorKind::bad_trial, why, "other_trial"));
      return;
    }
    others.push_back(other);
  }
  evaluator_->add(std::move(rule), configuration.name, std::move(others));
}

void TrialJudge::found(std::size_t rule, const Finding& finding) {
  const Record record = {RecordKind::finding, name_, names_[rule], &finding};
  reports_->finding(record);
  // One command a step, however many tensors it concerns.
  const GlobalStep step = finding.step.value_or(GlobalStep(-1));
  if (judgement_.options.on_trigger && triggered_[rule] != step) {
    triggered_[rule] = step;
    run_on_trigger({*judgement_.options.on_trigger, judgement_.options.trigger_timeout, judgement_.stop}, record,
                   judgement_.messages);
  }
}

void TrialJudge::report_finished() {
  if (judgement_.options.keep_going) {
    return;  // rules go on, and results with many findings are not made for nothing
  }
  const std::vector<RuleResult>& results = evaluator_->results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!reported_[i] && results[i].status != RuleStatus::in_progress) {
      report(i, results[i]);
      reported_[i] = true;
    }
  }
}

void TrialJudge::conclude(bool running) {
  const std::vector<RuleResult>& results = evaluator_->results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (reported_[i]) {
      continue;
    }
    RuleResult result = results[i];
    if (running && !result.error_kind &&
        (result.status == RuleStatus::no_issues_found || result.status == RuleStatus::not_evaluated)) {
      result.status = RuleStatus::in_progress;
      result.message.clear();
    }
    report(i, result);
    reported_[i] = true;
  }
}

void TrialJudge::report_refused() {
  const std::vector<RuleResult>& results = evaluator_->results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    complain(i, results[i]);
  }
}

/// What a message about a result begins with.
std::string TrialJudge::of(const RuleResult& result) const {
  return (judgement_.several_trials ? name_ + ": " : std::string()) + result.name + ": ";
}

/// What was wrong with a rule before any trial was looked at, or with its other trial, has been said.
void TrialJudge::complain(std::size_t rule, const RuleResult& result) {
  if (result.error_kind == ConfigurationErrorKind::bad_value && !judgement_.requests[rule].error) {
    judgement_.messages.fail("Usage", of(result) + result.message, ExitStatus::usage);
  }
}

void TrialJudge::report_problem(const Problem& problem) {
  Problem shown = problem;
  if (problem.kind == ProblemKind::not_yet && !judgement_.options.following.follow) {
    shown.kind = ProblemKind::absent;  // without --follow nothing is waited for: it is missing all the same
  }
  if (shown.kind != ProblemKind::absent) {
    judgement_.messages.report_once(shown, trial_.path());
  } else if (missing_.insert(to_string(shown)).second) {  // three such files are named, the rest is counted
    judgement_.messages.report_record(shown, trial_.path(), {}, Level::warning);
  }
  judgement_.messages.raise(status_of(problem.kind));
}

void TrialJudge::report(std::size_t rule, const RuleResult& result) {
  Diagnostics& messages = judgement_.messages;
  const std::string withheld = stop_not_performed(judgement_.requests[rule], result);
  if (!withheld.empty() &&
      std::find(result.warnings.begin(), result.warnings.end(), withheld) == result.warnings.end()) {
    RuleResult more = result;
    more.warnings.push_back(withheld);
    report(rule, more);
    return;
  }
  complain(rule, result);
  for (const std::string& warning : result.warnings) {
    messages.warning(of(result) + warning);
  }
  for (const Problem& problem : result.problems) {
    report_problem(problem);
  }
  messages.say_missing();
  if (result.records_unread > 0) {
    messages.raise(ExitStatus::damaged);
  }
  if (judgement_.options.findings_only && !result.error_kind &&
      (result.unread || result.status == RuleStatus::not_evaluated)) {
    messages.warning(of(result) + std::string(to_string(result.status)) + ": " + result.message);
  }
  if (result.status == RuleStatus::issues_found) {
    messages.raise(ExitStatus::no);
  } else if (result.status == RuleStatus::not_evaluated &&
             !(result.error_kind && evaluated_elsewhere(*result.error_kind))) {
    messages.raise(ExitStatus::nothing_evaluated);
  } else if (result.status == RuleStatus::error && !result.unread && !result.error_kind) {
    // A rule of one's own that threw: there is no verdict.
    messages.warning(of(result) + result.message);
    messages.raise(ExitStatus::nothing_evaluated);
  }
  const Finding* const first = result.findings.empty() ? nullptr : &result.findings.front();
  reports_->result({RecordKind::result, name_, result, first});
}

namespace {

/// Leaves an evaluation between two of its parts.
struct Interrupted {};

}  // namespace

void judge_trial(const Judgement& judgement, Trial& trial, std::string_view name, const std::stop_token& stop,
                 Reports& reports) {
  EvaluationOptions options = evaluation_options(judgement, trial);
  Progress progress("judging steps", 0);
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.at(done, total);
    if (stop.stop_requested()) {
      throw Interrupted();
    }
  };
  const std::optional<GlobalStep> end = options.end;
  const bool told = options.steps.has_value();  // by whoever selected them
  if (!told && trial.listed_steps().empty()) {
    report_no_step(trial, judgement.messages, ExitStatus::nothing_evaluated);
  }
  TrialJudge judge(judgement, trial, name, std::move(options), &reports);
  const auto give_up = [&judge] {
    judge.evaluator().finish(false);
    judge.conclude(true);
  };
  try {
    judge.evaluator().offer();
  } catch (const Interrupted&) {
    return give_up();
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::stopped) {
      throw;
    }
    return give_up();
  }
  // Steps beyond a range need not have been read for the rules to know that they are there.
  const std::vector<GlobalStep> listed = trial.listed_steps();
  judge.evaluator().finish(!(end && !listed.empty() && listed.back() >= *end));
  judge.conclude();
}

void report_unread(const Judgement& judgement, std::string_view name, const std::string& why, Reports& reports) {
  for (const RuleRequest& request : judgement.requests) {
    const RuleConfiguration& configuration = request.configuration;
    RuleResult result;
    result.name = request.name();
    result.rule = configuration.rule_to_invoke;
    result.status = RuleStatus::error;
    result.error_kind = ConfigurationErrorKind::bad_trial;
    result.message = why;
    if (request.error) {
      result.error_kind = request.error->kind;
      result.error_parameter = request.error->parameter;
      result.message = request.error->what();
      if (evaluated_elsewhere(request.error->kind)) {
        result.status = RuleStatus::not_evaluated;
      }
    }
    reports.result({RecordKind::result, name, result, nullptr});
  }
}

}  // namespace smd::tool::rule
