// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <smd/log.hpp>
#include <smd/rule_plugin.hpp>
#include <smd/rule_registry.hpp>

#include "cli/interruption.hpp"
#include "cli/operands.hpp"
#include "cli/text.hpp"
#include "explain.hpp"
#include "judge.hpp"
#include "live.hpp"
#include "requests.hpp"
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

/// Judges trials one after another.
class Runner {
 public:
  Runner(const RuleCommandOptions& options, const std::vector<RuleRequest>& requests, Diagnostics& messages)
      : options_(options),
        messages_(messages),
        others_(options.reading, messages),
        judgement_{
            options, requests, others_, messages, may_be_several(options.operands), [] { return interrupted(); }} {
    for (const std::string& operand : options.operands) {
      others_.allow(operand);
    }
    others_.allow(options.other.value_or(std::string()));
    for (const ParameterOption& parameter : options.parameters) {
      others_.allow(parameter.name == "other_trial" ? parameter.value : std::string());
    }
  }

  void judge() {
    Reports reports(options_, judgement_.several_trials, longest_name(judgement_.requests, options_.output.terminal.ascii),
                    messages_);
    const bool any_good = std::any_of(judgement_.requests.begin(), judgement_.requests.end(),
                                      [](const RuleRequest& request) { return !request.error; });
    if (!any_good) {
      messages_.raise(ExitStatus::nothing_evaluated);  // rules that are evaluated elsewhere alone are no verdict
    }
    if (any_good && options_.following.follow) {
      judge_live(judgement_, all_operands(options_.operands, options_.output.null_separated, messages_), reports);
      reports.close();
      return;
    }
    for_each_operand(options_.operands, options_.output.null_separated, messages_, [&](const std::string& operand) {
      if (!any_good) {
        report_unread(judgement_, operand, {}, reports);
        return true;
      }
      // Reports are closed also when a signal ends this; reading of operands ends at once.
      const Interruption interruption;
      bool judged = false;
      visit(operand, [&](Trial& trial) {
        judge_trial(judgement_, trial, operand, interruption.token(), reports);
        judged = true;
      });
      if (!judged && !interrupted()) {
        report_unread(judgement_, operand, Diagnostics::last_failure(), reports);
      }
      return !interruption.token().stop_requested();
    });
    reports.close();
  }

  void explain() {
    OutputFile out = options_.output.open();
    RowWriter rows(out, options_.output, explain_columns(), judgement_.several_trials, messages_);
    for_each_operand(options_.operands, options_.output.null_separated, messages_, [&](const std::string& operand) {
      visit(operand, [&](Trial& trial) {
        TrialJudge judge(judgement_, trial, operand, evaluation_options(judgement_, trial), nullptr);
        rule::explain(judge.evaluator(), operand, rows, messages_);
        judge.report_refused();
      });
      return true;
    });
    rows.finish();
    out.close();
  }

 private:
  void visit(const std::string& operand, const std::function<void(Trial&)>& work) {
    with_trial(operand, options_.reading.trial_options(range_to_judge(options_.selection)), messages_, work);
  }

  const RuleCommandOptions& options_;
  Diagnostics& messages_;
  OtherTrials others_;
  Judgement judgement_;
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
  const std::vector<RuleRequest> requests = rule_requests(options_, messages);
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
    runner.judge();
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::rule
