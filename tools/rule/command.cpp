// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <smd/log.hpp>
#include <smd/rule_plugin.hpp>
#include <smd/rule_registry.hpp>

#include "about_requests.hpp"
#include "cli/interruption.hpp"
#include "cli/operands.hpp"
#include "cli/text.hpp"
#include "evaluate.hpp"
#include "explain.hpp"
#include "live.hpp"
#include "rule_views.hpp"

#include <algorithm>
#include <string>

namespace smd::tool::rule {

namespace {

std::size_t longest_name(const std::vector<RuleRequest>& requests, bool ascii) {
  std::size_t width = 0;
  for (const RuleRequest& request : requests) {
    width = std::max(width, display_width(printable(request.name(), ascii)));
  }
  return width;
}

/// Evaluates trials one after another.
class Runner {
 public:
  Runner(const RuleCommandOptions& options, const std::vector<RuleRequest>& requests, Diagnostics& messages)
      : options_(options),
        messages_(messages),
        others_(options.reading, messages),
        context_{options, requests, others_, messages, may_be_several(options.operands), [] { return interrupted(); }} {
    for (const std::string& operand : options.operands) {
      others_.allow(operand);
    }
    others_.allow(options.other.value_or(std::string()));
    for (const ParameterOption& parameter : options.asked.parameters) {
      others_.allow(parameter.name == "other_trial" ? parameter.value : std::string());
    }
  }

  void evaluate() {
    Reports reports(options_, context_.several_trials, longest_name(context_.requests, options_.output.terminal.ascii),
                    messages_);
    const bool any_good = std::any_of(context_.requests.begin(), context_.requests.end(),
                                      [](const RuleRequest& request) { return !request.error; });
    if (!any_good) {
      messages_.raise(ExitStatus::nothing_evaluated);  // rules that are evaluated elsewhere alone are no result
    }
    if (any_good && options_.following.follow) {
      evaluate_live(context_, all_operands(options_.operands, options_.output.null_separated, messages_), reports);
      reports.close();
      return;
    }
    for_each_operand(options_.operands, options_.output.null_separated, messages_, [&](const std::string& operand) {
      if (!any_good) {
        report_unread(context_, operand, {}, reports);
        return true;
      }
      // Reports are closed also when a signal ends this; reading of operands ends at once.
      const Interruption interruption;
      bool evaluated = false;
      visit(operand, [&](Trial& trial) {
        evaluate_trial(context_, trial, operand, interruption.token(), reports);
        evaluated = true;
      });
      if (!evaluated && !interrupted()) {
        report_unread(context_, operand, Diagnostics::last_failure(), reports);
      }
      return !interruption.token().stop_requested();
    });
    reports.close();
  }

  void explain() {
    OutputFile out = options_.output.open();
    RowWriter rows(out, options_.output, explain_columns(), context_.several_trials, messages_);
    for_each_operand(options_.operands, options_.output.null_separated, messages_, [&](const std::string& operand) {
      visit(operand, [&](Trial& trial) {
        TrialEvaluation evaluation(context_, trial, operand, evaluation_options(context_, trial), nullptr);
        rule::explain(evaluation.evaluator(), operand, rows, messages_);
        evaluation.report_refused();
      });
      return true;
    });
    rows.finish();
    out.close();
  }

 private:
  void visit(const std::string& operand, const std::function<void(Trial&)>& work) {
    with_trial(operand, options_.reading.trial_options(range_to_evaluate(options_.selection)), messages_, work);
  }

  const RuleCommandOptions& options_;
  Diagnostics& messages_;
  OtherTrials others_;
  EvaluationContext context_;
};

void about_rules(const RuleCommandOptions& options, Diagnostics& messages) {
  OutputFile out = options.output.open();
  if (options.task == Task::list) {
    list_rules(options, out, messages);
  } else {
    describe(options, out, messages);
  }
  out.close();
}

/// While one lives, what the library logs (that a rule of a plug-in skips a step) is a message of the command.
class LibraryMessages {
 public:
  explicit LibraryMessages(Diagnostics& messages) {
    set_log_sink([&messages](LogLevel level, std::string_view text) {
      level == LogLevel::debug ? messages.debug(text) : messages.info(text);
    });
  }
  ~LibraryMessages() { set_log_sink({}); }
  LibraryMessages(const LibraryMessages&) = delete;
  LibraryMessages& operator=(const LibraryMessages&) = delete;
};

}  // namespace

void RuleCommand::setup(const CommandLine& line) { options_ = RuleCommandOptions::from(line); }

ExitStatus RuleCommand::run(Diagnostics& messages) {
  const LibraryMessages library(messages);
  if (options_.exit_zero) {
    messages.forgive(ExitStatus::no);
  }
  if (options_.exit_zero || options_.allow_empty) {
    messages.forgive(ExitStatus::nothing_evaluated);
  }
  for (const std::string& plugin : options_.plugins) {
    for (const std::string& rule : load_rule_plugin(plugin)) {
      messages.info(std::string(plugin).append(": brings rule ").append(rule));
    }
  }
  if (options_.task == Task::list || options_.task == Task::describe) {
    about_rules(options_, messages);
    return ExitStatus::yes;
  }
  const std::vector<RuleRequest> requests = rule_requests(
      options_.asked, {.other = options_.other, .for_hook = options_.task == Task::hook_config}, messages);
  report_requests(requests, options_, messages);
  if (options_.task == Task::check_config) {
    OutputFile out = options_.output.open();
    check_config(requests, options_, out, messages);
    out.close();
    return ExitStatus::yes;
  }
  if (requests.empty()) {
    return ExitStatus::nothing_evaluated;  // why was said with the files
  }
  if (options_.task == Task::hook_config) {
    hook_config(requests, options_);
    return ExitStatus::yes;
  }
  Runner runner(options_, requests, messages);
  if (options_.task == Task::explain) {
    runner.explain();
  } else {
    runner.evaluate();
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::rule
