// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "brief.hpp"
#include "cli/interruption.hpp"
#include "cli/output_file.hpp"
#include "examination.hpp"
#include "live.hpp"
#include "operands/operands.hpp"
#include "page.hpp"
#include "requests/evaluation.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smd::tool::report {

namespace {

// How often a page that follows a job reloads itself, without --interval.
constexpr std::chrono::milliseconds default_reload{5000};

void write_page(std::vector<TrialReport>& trials, const ReportCommandOptions& options, bool running,
                const Diagnostics& messages) {
  OutputFile out = options.file.empty() ? OutputFile::standard() : OutputFile::file(options.file);
  if (options.format != "html") {
    out.write(options.format == "md" ? brief_markdown(trials) : brief_json(trials));
    out.close(messages);
    return;
  }
  out.write(page_html(trials, options,
                      running ? std::optional(options.following.interval.value_or(default_reload)) : std::nullopt));
  out.close(messages);
}

void write_once(const ExaminationContext& context) {
  const ReportCommandOptions& options = context.options;
  std::vector<TrialReport> trials;
  bool stopped = false;
  for_each_operand(options.operands, options.null_separated, context.messages, [&](const std::string& operand) {
    const Interruption interruption;  // not around the loop: while operands are read, a signal ends at once
    context.others.allow(operand);
    const std::size_t before = trials.size();
    with_trial(operand, options.reading.trial_options(range_to_evaluate(options.selection)), context.messages,
               [&](Trial& trial) { trials.push_back(examine(context, trial, operand, interruption.token())); });
    if (trials.size() == before) {
      trials.push_back({.name = operand, .unread = Diagnostics::last_failure()});
    }
    stopped = interruption.token().stop_requested();
    return !stopped;
  });
  const bool any =
      std::any_of(trials.begin(), trials.end(), [](const TrialReport& trial) { return trial.histories != nullptr; });
  if (any && !stopped) {  // a page of what was read before a signal would look complete
    write_page(trials, options, false, context.messages);
  }
}

}  // namespace

void ReportCommand::setup(const CommandLine& line) { options_ = ReportCommandOptions::from(line); }

ExitStatus ReportCommand::run(Diagnostics& messages) {
  const std::vector<RuleRequest> requests = requests_of_page(options_.rules, messages);
  OtherTrials others(options_.reading, messages);
  for (const ParameterOption& parameter : options_.rules.parameters) {
    others.allow(parameter.name == other_parameter ? parameter.value : std::string());
  }
  const ExaminationContext context = {options_, requests, others, messages};
  if (options_.following.follow) {
    examine_live(
        context, all_operands(options_.operands, options_.null_separated, messages),
        [&](std::vector<TrialReport>& trials, bool running) { write_page(trials, options_, running, messages); });
  } else {
    write_once(context);
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::report
