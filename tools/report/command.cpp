// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/interruption.hpp"
#include "cli/output_file.hpp"
#include "examination.hpp"
#include "operands/operands.hpp"
#include "page.hpp"

#include <chrono>
#include <optional>

namespace smd::tool::report {

namespace {

// How often a page that follows a job reloads itself, without --interval.
constexpr std::chrono::milliseconds default_reload{5000};

void write_page(std::vector<TrialReport>& trials, const ReportCommandOptions& options, bool running,
                const Diagnostics& messages) {
  const bool to_standard = options.file.empty() || options.file == "-";
  if (options.quiet && to_standard) {
    return;
  }
  OutputFile out = to_standard ? OutputFile::standard() : OutputFile::file(options.file);
  const auto reload = running ? std::optional(options.following.interval.value_or(default_reload)) : std::nullopt;
  out.write(options.format == "md"     ? brief_markdown(trials)
            : options.format == "json" ? brief_json(trials)
                                       : page_html(trials, options, reload));
  out.close(messages);
}

void write_once(const ExaminationContext& context) {
  const ReportCommandOptions& options = context.options;
  std::vector<TrialReport> trials;
  bool any = false;
  bool stopped = false;
  OperandSource operands = operand_source(options.operands, options.null_separated, context.messages);
  for (auto operand = operands.next(); operand; operand = stopped ? std::nullopt : operands.next()) {
    // Not around the loop: while operands are read, a signal ends at once.
    const Interruption interruption(options.following.reader);
    context.others.allow(*operand);
    std::optional<TrialReport> report;
    with_trial(*operand, options.reading.trial_options(), context.messages,
               [&](Trial& trial) { report = examine(context, trial, *operand, interruption.token()); });
    any = any || report;
    trials.push_back(report ? std::move(*report)
                            : TrialReport{.name = *operand, .unread = Diagnostics::last_failure()});
    stopped = interruption.token().stop_requested();
  }
  if (any && !stopped) {  // a page of what was read before a signal would look complete
    write_page(trials, options, false, context.messages);
  }
}

}  // namespace

ExitStatus run(const ReportCommandOptions& options, Diagnostics& messages) {
  const std::vector<RuleRequest> requests = requests_of_page(options.rules, messages);
  OtherTrials others(options.reading, messages);
  for (const ParameterOption& parameter : options.rules.parameters) {
    others.allow(parameter.name == other_parameter ? parameter.value : std::string());
  }
  const ExaminationContext context = {options, requests, others, messages};
  if (options.following.follow) {
    examine_live(
        context, all_operands(options.operands, options.null_separated, messages),
        [&](std::vector<TrialReport>& trials, bool running) { write_page(trials, options, running, messages); });
  } else {
    write_once(context);
  }
  return ExitStatus::yes;
}

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-report",
      .synopsis = "[OPTION]... [TRIAL]...",
      .summary = "Writes one HTML page that shows whether training is healthy, and where it went wrong.",
      .brief = "write one page about a training job, to look at",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = false, .repeats = true, .here = true}},
      .examples = {{"is this run healthy, and what does its loss do?", "smd-report run -o run.html"},
                   {"two runs, laid over one another", "smd-report run other-run -o both.html"},
                   {"while the job runs; the page reloads itself", "smd-report run -F -o run.html"}},
      .option_tables = {RuleOptions::table(), ReportCommandOptions::table(), SelectionOptions::name_table(),
                        SelectionOptions::table(), ReadingOptions::table(), FollowingOptions::table(),
                        MessageOptions::table()},
      .formats = {},
      .exit_notes = {{ExitStatus::yes, "the page was written, and no rule triggered"},
                     {ExitStatus::no, "the page was written, and a rule triggered; or something named does not exist"},
                     {ExitStatus::usage, "wrong usage, an unknown rule or parameter"},
                     {ExitStatus::unreadable, "a trial cannot be read, or the page not written"},
                     {ExitStatus::damaged, "damaged data; the page shows the rest, and says so"},
                     {ExitStatus::timed_out,
                      "with --follow, the job went on after --timeout, or no step came within --idle"}},
      .see_also = {"smd-ls(1)", "smd-reduce(1)", "smd-rule(1)", "smd-rules(7)", "smd-trial(5)"},
  };
  return definition;
}

}  // namespace smd::tool::report
