// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/interruption.hpp"
#include "cli/output_file.hpp"
#include "examination.hpp"
#include "operands/operands.hpp"
#include "page.hpp"
#include "requests/evaluation.hpp"

#include <array>
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
  for_each_operand(options.operands, options.null_separated, context.messages, [&](const std::string& operand) {
    const Interruption interruption;  // not around the loop: while operands are read, a signal ends at once
    context.others.allow(operand);
    std::optional<TrialReport> report;
    with_trial(operand, options.reading.trial_options(range_to_evaluate(options.selection)), context.messages,
               [&](Trial& trial) { report = examine(context, trial, operand, interruption.token()); });
    any = any || report;
    trials.push_back(report ? std::move(*report) : TrialReport{.name = operand, .unread = Diagnostics::last_failure()});
    stopped = interruption.token().stop_requested();
    return !stopped;
  });
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

namespace {

constexpr std::array<Prose, 4> prose = {{
    {.title = "THE PAGE",
     .text =
         "One HTML file that holds everything: it opens from disk, can be mailed, prints, follows the reader's light "
         "or dark, and loads nothing. Its Content-Security-Policy allows the page's own style and script, by their "
         "digests, and nothing else; names and values of the trial are text, whatever they hold. Without script "
         "everything is shown; only the conveniences are missing: the readout under the pointer, zoom (drag a "
         "rectangle; a double click shows the whole again), hiding a curve by a click on its name, and sorting of "
         "tables. The same trial gives the same bytes.\n\n"
         "The first screen says whether the run is healthy, what is broken, and what the loss does. Then, each only if "
         "there is something to show: what the trial is; the results of the rules; losses, training beside validation; "
         "other scalars; norms of gradients and weights, and how much the weights change in a step; how the elements "
         "are spread, as percentiles or as the buckets that the job saved; the share of zeros of activations; time per "
         "step, and losses by worker; a table of tensors; and commands. Of many tensors the worst come first, those "
         "with findings and then those with NaN or infinities, and the rest is one click away, by layer."},
    {.title = "CURVES",
     .text = "Curves are those of the first worker by name that saved a tensor at a step. Saved statistics are used "
             "where there are any, as smd-reduce does; behind each figure are a table of exact numbers, and the "
             "command that prints the curve. Curves are thinned to what a screen shows: the least and the greatest "
             "number of each column are kept. Lines end at NaN, infinities and missing steps, which are marked. "
             "Percentiles are computed of values of 512 bytes to 8 MiB, at no more than 96 steps evenly spread. The "
             "update to weight ratio is the root of the sum of squares of what changed since the step before, over "
             "that of the weights before; large weights, beyond 32 MiB together, are left out, and the page says so."},
    {.title = "RULES",
     .text =
         "Without -r and -C each built-in rule is evaluated that needs neither a parameter nor another trial, and "
         "those "
         "that had something to evaluate are shown. A rule goes on after a step that triggered, so that all findings "
         "are marked in the figures. Statistics and rules are evaluated together, so that each record is read once; "
         "saved histograms are read separately. Nothing stops a job: that is for smd-rule. The present, for rules that "
         "use the clock, is when the trial was last written; with --follow it is this machine's clock."},
    {.title = "FOLLOWING",
     .text = "With -F the page is rewritten, whole, at most each --interval (default: 2s), and reloads itself at that "
             "interval (default: 5s), until the jobs have ended. A signal ends it with a last page."},
}};

}  // namespace

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-report",
      .synopsis = "[OPTION]... TRIAL... -o FILE.html",
      .summary = "Writes one HTML page that shows whether training is healthy, and where it went wrong.",
      .brief = "write one page about a training job, to look at",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = false, .repeats = true, .here = true}},
      .examples = {{.purpose = "is this run healthy, and what does its loss do?",
                    .command = "smd-report run -o run.html"},
                   {.purpose = "two runs, laid over one another", .command = "smd-report run other-run -o both.html"},
                   {.purpose = "while the job runs; the page reloads itself",
                    .command = "smd-report run -F -o run.html"}},
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
      .prose = prose,
      .see_also = {"smd-ls(1)", "smd-reduce(1)", "smd-rule(1)", "smd-rules(7)", "smd-trial(5)"},
      .more_examples = {{.purpose = "The rules of a SageMaker job, as an artefact of CI",
                         .command = "smd-report run -C job.json -o report.html"},
                        {.purpose = "Only the last part of a long run, and one rule with a parameter",
                         .command = "smd-report run -s 30: -r LossNotDecreasing -p num_steps=50 -o end.html"},
                        {.purpose = "A custom heading",
                         .command = "smd-report run --title 'digits, learning rate 0.1' -o run.html"}},
  };
  return definition;
}

}  // namespace smd::tool::report
