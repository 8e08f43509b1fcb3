// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <smd/rule_plugin.hpp>

#include "cli/exit_status.hpp"
#include "cli/interruption.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "evaluate.hpp"
#include "operands/operands.hpp"
#include "python_rules.hpp"
#include "record.hpp"
#include "reports.hpp"
#include "rule_views.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <stop_token>
#include <utility>

namespace smd::tool::rule {

namespace {

/// Evaluates trials.
class Runner {
 public:
  Runner(const RuleCommandOptions& options, const std::vector<RuleRequest>& requests, Diagnostics& messages)
      : options_(options),
        messages_(messages),
        others_(options.reading, messages),
        context_{options,
                 requests,
                 others_,
                 messages,
                 may_be_several(options.operands),
                 [] { return interrupted(); },
                 options.reading.jobs} {
    for (const std::string& operand : options.operands) {
      others_.allow(operand);
    }
    others_.allow(options.other.value_or(std::string()));
    for (const ParameterOption& parameter : options.asked.parameters) {
      others_.allow(parameter.name == other_parameter ? parameter.value : std::string());
    }
  }

  void evaluate() {
    if (options_.shard) {
      take_part(*options_.shard);
    }
    const bool any_good =
        std::ranges::any_of(context_.requests, [](const RuleRequest& request) { return !request.error; });
    const auto width_of = [ascii = options_.output.terminal.ascii](const RuleRequest& request) {
      return display_width(printable(request.name(), ascii));
    };
    Reports reports(options_, context_.several_trials, std::ranges::max(mapped(context_.requests, width_of)), messages_,
                    part_, any_good);
    if (!any_good) {
      messages_.raise(ExitStatus::nothing_evaluated);  // if all rules are evaluated elsewhere, there is no result
    }
    if (any_good && options_.following.follow) {
      evaluate_live(context_, all_operands(options_.operands, options_.output.null_separated, messages_), reports);
      reports.close();
      return;
    }
    evaluate_side_by_side(reports, any_good);
    // A part that a signal ended is incomplete, and must not pass for whole until it is evaluated again.
    if (!part_ || !interrupted()) {
      reports.close();
    }
  }

  void explain() {
    OutputFile out = options_.output.open();
    RowWriter rows(out, options_.output, explain_columns(), context_.several_trials, messages_);
    OperandSource operands = operand_source(options_.operands, options_.output.null_separated, messages_);
    while (const std::optional<std::string> operand = operands.next()) {
      with_trial(*operand, options_.reading.trial_options(), messages_, [&](Trial& trial) {
        TrialEvaluation evaluation(context_, trial, *operand, evaluation_options(context_, trial), nullptr);
        rule::explain(evaluation.evaluator(), *operand, rows, messages_);
        evaluation.report_refused();
      });
    }
    rows.finish();
    out.close();
  }

 private:
  void take_part(const Shard& shard) {
    std::vector<std::string> all = all_operands(options_.operands, options_.output.null_separated, messages_);
    const auto [begin, end] = shard.range(all.size());
    part_ = PartLine{.shard = shard,
                     .trials = all.size(),
                     .several = context_.several_trials,
                     .whole = digest_of(all, context_.requests)};
    trials_of_part_ = {all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  void evaluate_side_by_side(Reports& reports, bool any_good) {
    OperandSource trials =
        part_ ? OperandSource::of(trials_of_part_) : OperandSource(options_.operands, options_.output.null_separated);
    messages_.name_trials(context_.several_trials);
    // Reports are closed even if a signal ends this.
    const Interruption interruption(options_.following.reader);
    const VisitPlan plan = {.doing = "evaluating trials",
                            .jobs = options_.reading.jobs,
                            .one_at_a_time = options_.on_trigger.has_value(),
                            .interruption = interruption.token()};
    const std::size_t evaluated = visit_in_turn(trials, plan, messages_, [&](const Visit& visit) -> Show {
      const auto records = std::make_shared<RecordsInTurn>(reports, visit.turn);
      if (any_good) {
        evaluate(visit, interruption.token(), *records);
      } else {
        report_unread(context_, visit.operand, {}, *records);
      }
      return [records, stop = interruption.token()] {
        records->show();
        return !stop.stop_requested();
      };
    });
    if (evaluated == 0 && !part_ && !interrupted()) {
      say_nothing_listed(messages_);
    }
  }

  void evaluate(const Visit& visit, const std::stop_token& stop, RecordSink& records) {
    EvaluationContext context = context_;
    context.jobs = visit.jobs;
    bool evaluated = false;
    with_trial(visit.operand, options_.reading.trial_options({}, visit.jobs), messages_, [&](Trial& trial) {
      evaluate_trial(context, trial, visit.operand, stop, records);
      evaluated = true;
    });
    if (!evaluated && !interrupted()) {
      report_unread(context, visit.operand, Diagnostics::last_failure(), records);
    }
  }

  const RuleCommandOptions& options_;
  Diagnostics& messages_;
  OtherTrials others_;
  EvaluationContext context_;
  std::optional<PartLine> part_;
  std::vector<std::string> trials_of_part_;
};

// Loads a plug-in in a child, which dies in our place if the file is damaged: the loader checks little.
void try_to_load(const std::string& plugin) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    try {
      static_cast<void>(load_rule_plugin(plugin));
    } catch (...) {  // it is loaded again, and the reason told
    }
    _exit(0);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && WIFSIGNALED(status)) {
    throw UsageError("--plugin: " + single_quoted(plugin) + " ends the program when it is loaded (" +
                     strsignal(WTERMSIG(status)) + "): it is damaged; copy or compile it again");
  }
}

}  // namespace

ExitStatus run(const RuleCommandOptions& options, Diagnostics& messages) {
  const LibraryMessages library(messages);
  if (options.exit_zero) {
    messages.forgive(ExitStatus::no);
  }
  if (options.exit_zero || options.allow_empty) {
    messages.forgive(ExitStatus::nothing_evaluated);
  }
  for (const std::string& plugin : options.plugins) {
    try_to_load(plugin);
    for (const std::string& rule : load_rule_plugin(plugin)) {
      messages.info(std::string(plugin).append(": brings rule ").append(rule));
    }
  }
  PythonRules python(options.python_command, options.trigger_timeout, messages);
  std::vector<AddedRule> added;
  for (const PythonSpec& spec : options.pythons) {
    std::ranges::move(python.load(spec), std::back_inserter(added));
  }
  if (options.task == Task::list) {
    list_rules(options, messages);
    return ExitStatus::yes;
  }
  if (options.task == Task::describe) {
    describe(options, messages);
    return ExitStatus::yes;
  }
  if (options.merge) {
    merge_results(all_operands(options.operands, options.output.null_separated, messages), options, messages);
    return ExitStatus::yes;
  }
  const std::vector<RuleRequest> requests = rule_requests(
      options.asked, {.added = std::move(added), .other = options.other, .for_hook = options.task == Task::hook_config},
      messages);
  report_requests(requests, options, messages);
  if (options.task == Task::check_config) {
    check_config(requests, options, messages);
    return ExitStatus::yes;
  }
  if (requests.empty()) {
    return ExitStatus::nothing_evaluated;  // the reason was reported with the files
  }
  if (options.task == Task::hook_config) {
    hook_config(requests, options);
    return ExitStatus::yes;
  }
  Runner runner(options, requests, messages);
  if (options.task == Task::explain) {
    runner.explain();
  } else {
    runner.evaluate();
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::rule
