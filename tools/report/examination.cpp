// SPDX-License-Identifier: Apache-2.0
#include "examination.hpp"

#include <smd/evaluator.hpp>
#include <smd/rule_registry.hpp>

#include "cli/mapped.hpp"
#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "follow/followed_trials.hpp"
#include "requests/evaluation.hpp"
#include "rows/cell.hpp"
#include "select/explanations.hpp"
#include "select/selection.hpp"
#include "survey.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace smd::tool::report {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds default_interval{2000};

// The columns that all curves of a trial may keep together.
constexpr std::size_t column_budget = 160000;
constexpr std::size_t fewest_columns = 12;
constexpr std::size_t most_columns = 512;
// Bytes of the values kept for rules that look back.
constexpr std::uint64_t most_kept_bytes = std::uint64_t{8} << 20;
// The rule that compares losses of training and validation.
constexpr std::string_view pairing_rule = "Overfit";

SurveyOptions survey_options(const SelectionOptions& selection, const Trial& trial) {
  const std::size_t curves = std::max<std::size_t>(trial.tensor_names().size(), 1) * measures;
  return {.tensors = {.names = selection.names,
                      .regex = selection.regexes,
                      .collections = selection.collections,
                      .all = !selection.selects_tensors()},
          .exclude = selection.excludes,
          .columns = std::clamp(column_budget / curves, fewest_columns, most_columns)};
}

// Whether a rule can be evaluated with nothing but a trial.
bool looks_alone(const RuleDescription& rule) {
  if (!rule.plugin.empty() || rule.other_trials != 0) {
    return false;
  }
  try {
    static_cast<void>(make_rule(rule.name));
    return true;
  } catch (const ConfigurationError&) {  // it needs a parameter
    return false;
  }
}

/// Reports what was asked for and not saved, once all steps are there.
void say_what_is_missing(const ExaminationContext& context, Trial& trial, const EvaluationOptions& options) {
  const SelectionOptions& selection = context.options.selection;
  const std::vector<GlobalStep> listed = trial.listed_steps();
  const bool no_mode = options.mode && !contains(trial.modes(), *options.mode);
  const auto outside = [&](GlobalStep step) {
    return no_mode || (options.start && step < *options.start) || (options.end && step >= *options.end);
  };
  if (!options.steps && listed.empty()) {
    report_no_step(trial, context.messages);
  } else if (!options.steps && std::ranges::all_of(listed, outside)) {
    say_no_step_selected(trial.name(), context.messages, all_steps_and_modes(trial));
  } else if ((selection.selects_tensors() || !selection.excludes.empty()) &&
             (select_tensors(trial, selection, context.messages).empty() ||
              tensors_at(trial, selection, std::nullopt).empty())) {
    say_nothing_selected(&trial, selection, context.messages);
  }
}

/// The rules and the statistics of one trial, evaluated together.
class Examination {
 public:
  /// `options.progress` is called and may end the evaluation by throwing. The context and the trial must outlive this.
  Examination(const ExaminationContext& context, Trial& trial, std::string name, EvaluationOptions options)
      : context_(context), trial_(trial), name_(std::move(name)) {
    options.keep_going = true;
    options.jobs = context.options.reading.jobs;
    if (!options.follow) {
      // The page must not depend on when it is made: the present is when the trial was last written.
      options.now = [this] { return survey_->histories().last_write.value_or(0); };
    }
    steps_ = options;
    options.most_findings = listed_findings;
    options.most_kept_bytes = most_kept_bytes;
    options.on_finding = [this](std::size_t rule, const Finding& finding) { tallies_[rule].add(finding); };
    options.make_again = [this](std::size_t rule) {
      std::unique_ptr<Rule> fresh = rule == 0        ? make_survey()
                                    : rule == pairs_ ? make_rule(pairing_rule)
                                                     : context_.requests[rule - 1].make_again();
      tallies_[rule] = fresh ? FindingTally() : tallies_[rule];
      return fresh;
    };
    evaluator_.emplace(trial, std::move(options));
    evaluator_->add(make_survey());
    context.others.allow(name_);
    bool pairs = false;
    for (const RuleRequest& request : context.requests) {
      add_rule(*evaluator_, request, context.others);
      pairs = pairs || (!request.error && request.configuration.rule_to_invoke == pairing_rule);
    }
    if (!pairs && !trial.layout().has_modes) {
      pairs_ = evaluator_->add(make_rule(pairing_rule));
    }
    tallies_.resize(evaluator_->results().size());
  }
  Examination(const Examination&) = delete;
  Examination& operator=(const Examination&) = delete;

  [[nodiscard]] Evaluator& evaluator() noexcept { return *evaluator_; }
  /// What is known so far. `last`: no more data comes, so that problems are reported with their status.
  [[nodiscard]] TrialReport report(bool last) {
    TrialReport report = {.name = name_, .facts = facts_of(trial_)};
    report.histories = last ? survey_->take_histories() : Histories(survey_->histories());
    report.buckets = saved_histograms(trial_, report.histories, steps_);
    report.media = logged_media(trial_, context_.options.selection, steps_);
    if (report.histories.last_write) {
      show_date(report.facts.written, Cell(*report.histories.last_write), 0);
    }
    const SelectionOptions& selection = context_.options.selection;
    const auto unseen =
        std::ranges::find_if(selection.names, [&](const std::string& name) { return report.history(name) == nullptr; });
    const bool named = unseen != selection.names.end();
    if (named || (report.histories.tensors.empty() && (selection.selects_tensors() || !selection.excludes.empty()))) {
      append_part(report.facts.incomplete,
                  "nothing is shown of " + (named ? single_quoted(*unseen) : "what was asked for"), "; ");
    }
    const std::vector<RuleResult>& results = evaluator_->results();
    const bool chosen = !context_.options.rules.empty();
    for (std::size_t i = 0; i < results.size(); ++i) {
      const RuleResult& result = results[i];
      report.pairs.insert(report.pairs.end(), result.pairs.begin(), result.pairs.end());
      if (i == 0 || i == pairs_) {  // problems of reading for the page count as those of reading for rules
        for (const Problem& problem : result.problems) {
          report.facts.problems.push_back(to_string(problem));
        }
      } else {
        const bool passed = !chosen && result.status == RuleStatus::not_evaluated && !result.doubtful;
        (passed ? report.passed_over : report.results).push_back(result);
        if (!passed) {
          report.tallies.push_back(tallies_[i]);
        }
        if (last && result.status == RuleStatus::issues_found) {
          context_.messages.raise(ExitStatus::no);
        }
      }
      if (last) {
        for (const Problem& problem : result.problems) {
          context_.messages.report_once(problem, trial_.path());
          context_.messages.raise(status_of(problem.kind));
        }
        if (result.records_unread > 0) {
          context_.messages.raise(ExitStatus::damaged);
        }
      }
    }
    detail::sort_each_once(report.pairs);
    detail::sort_each_once(report.facts.problems);
    return report;
  }

 private:
  [[nodiscard]] std::unique_ptr<Survey> make_survey() {
    auto survey = std::make_unique<Survey>(survey_options(context_.options.selection, trial_));
    survey_ = survey.get();
    return survey;
  }

  const ExaminationContext& context_;
  Trial& trial_;
  std::string name_;
  Survey* survey_ = nullptr;  // the first rule
  EvaluationOptions steps_;   // which are examined
  std::optional<Evaluator> evaluator_;
  std::vector<FindingTally> tallies_;  // by rule
  std::optional<std::size_t> pairs_;   // the rule that is evaluated for its pairs alone
};

}  // namespace

std::vector<RuleRequest> requests_of_page(const RuleOptions& rules, Diagnostics& messages) {
  RuleOptions asked = rules;
  if (rules.empty()) {
    for (const RuleDescription& rule : rule_descriptions()) {
      if (looks_alone(rule)) {
        asked.rules.push_back(rule.name);
      }
    }
  }
  std::vector<RuleRequest> requests = rule_requests(asked, {}, messages);
  for (RuleRequest& request : requests) {
    if (const auto stop = request.configuration.parameters.find(std::string(stop_parameter));
        stop != request.configuration.parameters.end()) {
      stop->second = "False";  // a page stops no job
    }
    if (request.error && evaluated_elsewhere(request.error->kind)) {
      messages.warning(request.error->what());
    } else if (request.error) {
      messages.fail("Usage", request.error->what(), ExitStatus::usage);
    }
  }
  return requests;
}

TrialReport examine(const ExaminationContext& context, Trial& trial, const std::string& name,
                    const std::stop_token& stop) {
  EvaluationOptions options;
  choose_steps(options, context.options.selection, trial, context.messages);
  say_what_is_missing(context, trial, options);
  Progress progress("examining steps", 0);
  watch_evaluation(options, progress, stop);
  const std::optional<GlobalStep> end = options.end;
  Examination examination(context, trial, name, std::move(options));
  evaluate_saved(examination.evaluator(), trial, end);
  return examination.report(true);
}

void examine_live(const ExaminationContext& context, const std::vector<std::string>& operands, const WritePage& write) {
  const FollowingOptions& following = context.options.following;
  FollowedTrials trials(following, context.options.reading, context.messages);
  context.others.follow_with(trials);
  // What is known of all trials. All that follows is used under the lock of the trials.
  std::vector<TrialReport> reports = mapped(
      operands, [](const std::string& operand) { return TrialReport{.name = operand, .unread = "not there yet"}; });
  std::vector<bool> ended(operands.size());
  std::optional<Clock::time_point> written;
  const auto due = [&] { return !written || Clock::now() - *written >= following.interval.value_or(default_interval); };
  const auto put = [&](std::size_t trial, TrialReport report, bool over) {
    reports[trial] = std::move(report);
    ended[trial] = over;
    if (over || due()) {
      written = Clock::now();
      write(reports, !std::ranges::all_of(ended, [](bool one) { return one; }));
    }
  };
  const auto examine_one = [&](std::size_t i, Trial& trial) {
    EvaluationOptions options;
    std::optional<Examination> examination;
    bool changed = true;  // since the page was written
    {
      const std::lock_guard lock(trials.mutex());
      options.follow = true;
      options.wait = trials.wait();
      choose_steps(options, context.options.selection, trial, context.messages);
      examination.emplace(context, trial, operands[i], options);
    }
    const auto end_early = [&] {
      const std::lock_guard lock(trials.mutex());
      finish_early(examination->evaluator());
      put(i, examination->report(true), true);
    };
    if (!check_modes(trial, context.options.selection.modes, context.messages)) {
      return end_early();
    }
    // Evaluates what is new, and writes the page. Returns whether following the trial is over.
    const auto show = [&](const FollowTick& what) {
      const std::lock_guard lock(trials.mutex());
      Evaluator& evaluator = examination->evaluator();
      const bool over = evaluate_tick(evaluator, what);
      if (over) {
        evaluator.finish(what.ended);
      }
      changed = changed || what.last || over;
      if (over || (changed && due())) {
        put(i, examination->report(over), over);
        changed = false;
      }
      if (over) {
        if (!check_choice(context.options.selection, trial, context.messages)) {
          options.steps.emplace();  // it was reported that there are none
        }
        say_what_is_missing(context, trial, options);
      }
      return over;
    };
    trials.in_ticks(trial, operands[i], context.others.all(), show, end_early);
  };
  trials.visit(operands, {}, true, examine_one, [&](std::size_t i) {
    const std::lock_guard lock(trials.mutex());
    put(i, {.name = operands[i], .unread = Diagnostics::last_failure()}, true);
  });
}

}  // namespace smd::tool::report
