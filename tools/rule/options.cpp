// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/mapped.hpp"
#include "cli/option_hints.hpp"
#include "cli/text.hpp"
#include "report.hpp"
#include "requests/evaluation.hpp"
#include "text/number.hpp"
#include "text/time.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <system_error>

namespace smd::tool::rule {

namespace {

constexpr auto own_options = in_group(
    rules_group,
    {
        valued(no_letter, "other", "TRIAL", ArgumentKind::trial, "the trial to compare with, for SimilarAcrossRuns")
            .explained("The trial to compare with, for SimilarAcrossRuns and rules in Python: the same as the "
                       "parameter other_trial of each of them."),
        valued(no_letter, "plugin", "FILE", ArgumentKind::file,
               "a shared object with further rules; may be given again")
            .repeatable()
            .explained(
                "A shared object with further rules. It is code that runs with your rights: load only what you trust."),
        valued(no_letter, "python", "FILE[:CLASS]", ArgumentKind::file,
               "evaluate the rules in a Python file, written for smdebug; may be given again")
            .repeatable()
            .explained("Evaluate rules in Python as the reference, smdebug, has them: CLASS, or every class in FILE "
                       "that derives from Rule. The module smd must be installed (python3-smd). All files are run by "
                       "one process, with your rights: name only what you trust. See RULES IN PYTHON."),
        valued(no_letter, "python-command", "CMD", ArgumentKind::text,
               "the program that runs --python (default: python3)"),
        flag(no_letter, "list", "list the rules; no TRIAL").under(group::view),
        valued(no_letter, "describe", "RULE", ArgumentKind::rule,
               "what a rule looks at, its condition and its parameters; no TRIAL")
            .under(group::view),
        flag(no_letter, "explain", "print the tensors and steps that each rule would read; evaluate nothing")
            .under(group::view),
        flag(no_letter, "check-config", "only check that rules and parameters are valid; no TRIAL is needed")
            .under(group::view),
        flag(no_letter, "hook-config",
             "print the hook's configuration, as JSON, that saves what the rules need; no TRIAL")
            .explained("Print the configuration of a hook, as JSON, that saves what the rules need and no more: for "
                       "smd-save --config, for a hook of libsmd or of the reference, or as the DebugHookConfig of a "
                       "training job. Reductions are saved where they suffice. Collections and steps that a file of "
                       "rules or the DebugHookConfig in it configures are taken from there; otherwise the steps are "
                       "the hook's own default.")
            .under(group::view),
        flag('k', "keep-going", "go on after a step that triggered, and print every finding")
            .explained("Go on after a step at which a rule triggered, and print every finding as it is made, ahead of "
                       "the result. By default a rule is done with the first step that triggered, as in SageMaker."),
        flag(no_letter, "findings", "print findings only, no results")
            .explained(
                "Print the findings, and not the results: all of the first step that triggered, or of every step with "
                "-k. It is implied where --columns chooses only columns of findings, such as --columns step,tensor. "
                "Files of --report are not affected. Rules that were not evaluated are then named in a message."),
        valued(no_letter, "now", "TIME", ArgumentKind::text,
               "the present, for StalledTrainingRule: seconds since 1970 or 2024-05-01T12:00:00Z (default: the clock)"),
        valued(no_letter, "on-trigger", "CMD", ArgumentKind::text,
               "run CMD by sh each time a rule triggers, with the finding as JSON on its standard input")
            .explained("Run sh -c CMD for each step at which a rule triggers. The first finding of the step is on its "
                       "standard input, as JSON, and in SMD_RULE, SMD_RULE_TRIAL, SMD_RULE_STEP, SMD_RULE_MODE, "
                       "SMD_RULE_TENSOR, SMD_RULE_WORKER, SMD_RULE_VALUE and SMD_RULE_MESSAGE (empty where there is "
                       "none); names are never pasted into CMD. What it prints goes to standard error. If it fails, a "
                       "warning says so. "
                       "It runs in a process group of its own; what of that is left after --trigger-timeout, or when a "
                       "signal or --timeout ends smd-rule, gets SIGTERM, and SIGKILL a second later."),
        valued(no_letter, "trigger-timeout", "D", ArgumentKind::duration,
               "end CMD of --on-trigger, or a --python that is silent, after D (default: 1m): SIGTERM, then SIGKILL"),
        valued(no_letter, "report", "F=FILE", ArgumentKind::format_file,
               "write a further report of format F to FILE, which appears once it is whole; may be given again")
            .repeatable()
            .under(group::output),
        flag(no_letter, "allow-empty", "status 0 instead of 5 if a rule had nothing to evaluate"),
        flag(no_letter, "exit-zero", "status 0 instead of 1 and 5"),
        valued(
            no_letter, "shard", "I/N", ArgumentKind::text,
            "part I (from 1) of N of the trials; auto or auto/N: the place that Slurm, AWS Batch or GNU parallel gave")
            .under(group::view),
        flag(no_letter, "merge",
             "operands are files of results (--jsonl), parts of one whole or not: print them as one")
            .under(group::view),
    });

constexpr auto step_options =
    in_group(group::selection,
             {
                 valued('s', "step", "SPEC", ArgumentKind::step,
                        "evaluate at these steps, counted in the mode: N, A:B, A:B:S, first, last, all; negative from "
                        "the end; with -F one range A:B")
                     .list()
                     .explained("Evaluate only at these steps, counted in the mode. Rules that look back may still "
                                "read earlier ones. Wins over the parameters start_step and end_step. With --follow it "
                                "is one range A:B of global steps, whose ends may be open; one step is 300:301."),
                 valued('m', "mode", "M[,M]", ArgumentKind::mode,
                        "evaluate at steps of these modes, with -F of one: train, eval, predict or global (default: "
                        "global, all steps)")
                     .list(),
                 valued('w', "worker", "W", ArgumentKind::worker, "evaluate what this worker saved (default: all)"),
             });

ReportSpec report_from(const std::string& text) {
  const std::size_t equals = text.find('=');
  invalid_if(equals == std::string::npos || equals + 1 == text.size(),
             single_quoted(text) + " is not FORMAT=FILE, such as junit=smd.xml");
  invalid_if(text.substr(equals + 1) == "-", "standard output is for --format; give a file");
  ReportSpec spec = {text.substr(0, equals), text.substr(equals + 1)};
  const std::span<const std::string_view> formats = report_formats();
  invalid_if(!contains(formats, spec.format), not_one_of(spec.format, formats));
  return spec;
}

/// The last colon separates the class, unless there is a file with that name.
PythonSpec python_from(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool whole = colon == std::string::npos || access(text.c_str(), F_OK) == 0;
  PythonSpec spec = {whole ? text : text.substr(0, colon), whole ? std::string() : text.substr(colon + 1)};
  struct stat status = {};
  if (stat(spec.file.c_str(), &status) != 0) {
    throw InvalidValue(single_quoted(spec.file) + ": " + std::generic_category().message(errno));
  }
  invalid_if(S_ISDIR(status.st_mode), single_quoted(spec.file) + " is a directory; name a file of Python");
  return spec;
}

std::chrono::nanoseconds trigger_timeout_from(const std::string& text) {
  const std::chrono::nanoseconds timeout = parse_duration(text);
  invalid_if(timeout.count() == 0, single_quoted(text) + " leaves the command no time");
  return timeout;
}

/// Seconds since 1970: a number, or RFC 3339 (`2024-05-01T12:00:00Z`). @throws InvalidValue.
double time_from(const std::string& text) {
  if (const std::optional<double> seconds = smd::text::number_of(text); seconds && std::isfinite(*seconds)) {
    return *seconds;
  }
  if (const std::optional<double> date = smd::text::seconds_of_time(text, true)) {
    return *date;
  }
  throw InvalidValue(single_quoted(text) + " is no time: give seconds since 1970, or a time as 2024-05-01T12:00:00Z");
}

constexpr std::array<std::pair<std::string_view, Task>, 5> task_flags = {{{"list", Task::list},
                                                                          {"describe", Task::describe},
                                                                          {"explain", Task::explain},
                                                                          {"check-config", Task::check_config},
                                                                          {"hook-config", Task::hook_config}}};

bool only_of_findings(const OutputOptions& output) {
  const auto in_finding = [](std::string_view column) {
    const std::span<const RecordKey> keys = record_keys();
    return std::ranges::any_of(keys, [&](const RecordKey& key) { return key.name == column && key.in_finding; });
  };
  return !output.columns.empty() && report_format(output.format).records &&
         std::ranges::all_of(output.columns, in_finding);
}

std::string first_operand(const RuleCommandOptions& options) {
  return options.operands.empty() ? std::string() : single_quoted(options.operands.front());
}

// Options that say what is evaluated, and how, must be given when the results are made.
void check_merging(const RuleCommandOptions& options, const CommandLine& line) {
  refuse_if(options.shard.has_value(), "--shard makes parts and --merge takes them: one at a time");
  for (const std::string_view name : {"rule", "param", "config", "other", "now", "on-trigger", "step", "mode", "worker",
                                      "keep-going", "findings", "plugin", "python"}) {
    refuse_if(line.has(name),
              "--merge takes results as they are: give --" + std::string(name) + " where they are made");
  }
  refuse_if(options.task != Task::evaluate, "--merge prints results: it takes no other view");
  refuse_if(options.operands.empty(), "the files of results are missing");
}

void check_about_rules(const RuleCommandOptions& options) {
  const bool list = options.task == Task::list;
  refuse_if(!options.operands.empty(), (list ? "--list" : "--describe") +
                                           std::string(" is about rules: it takes no TRIAL, and there is ") +
                                           first_operand(options));
  refuse_if(!options.asked.empty(),
            list ? "--list lists all rules: it takes no -r and no -C" : "--describe RULE takes no -r and no -C");
}

void check(const RuleCommandOptions& options, const CommandLine& line) {
  refuse_if(options.following.follow && (options.shard || options.merge),
            "--follow: not with --shard or --merge, which take what is there");
  if (options.merge) {
    check_merging(options, line);
    return;
  }
  const bool evaluates = options.task == Task::evaluate;
  refuse_if(options.shard && !evaluates, "--shard evaluates a part of the trials: it takes no other view");
  refuse_if(options.shard && (options.output.limit || !options.output.sort.empty()),
            "--shard makes parts to be merged whole: give --sort and --limit with --merge");
  if (options.task == Task::list || options.task == Task::describe) {
    check_about_rules(options);
    return;
  }
  refuse_if(options.asked.empty() && options.pythons.empty(),
            "no rule is given: choose with -r RULE (--list shows them), -C FILE or --python FILE");
  refuse_if(options.other && std::ranges::any_of(
                                 options.asked.parameters,
                                 [](const ParameterOption& given) { return given.name.starts_with(other_parameter); }),
            "--other TRIAL is the parameter other_trial of each rule that has it: give one of them");
  refuse_if(options.findings_only && !report_format(options.output.format).records,
            "--findings prints findings as text, table, tsv, csv, json or jsonl; " + options.output.format +
                " has results only");
  refuse_if(options.task == Task::hook_config && !options.operands.empty(),
            "--hook-config is about rules: it takes no TRIAL, and there is " + first_operand(options));
  refuse_if(options.operands.empty() && options.task != Task::check_config && options.task != Task::hook_config,
            "missing operand TRIAL");
  if (options.following.follow) {
    refuse_if(!evaluates, "--follow evaluates: it takes no --explain, no --check-config and no --hook-config");
    const SelectionOptions& selection = options.selection;
    refuse_if(!plain_range(selection) && (selection.steps || selection.modes.size() > 1),
              "--follow takes one mode, or steps as one range of global steps, such as 300: or 300:301");
  }
}

}  // namespace

std::span<const OptionSpec> RuleCommandOptions::table() noexcept { return own_options; }
std::span<const OptionSpec> RuleCommandOptions::step_table() noexcept { return step_options; }

RuleCommandOptions RuleCommandOptions::from(const CommandLine& line) {
  RuleCommandOptions options;
  static_cast<ShowOptions&>(options) = ShowOptions::from(line);
  options.following = FollowingOptions::from(line);
  options.task = only_flag(line, task_flags);
  options.described = line.value("describe").value_or("");
  options.asked = RuleOptions::from(line);
  options.other = line.value("other");
  options.keep_going = line.has("keep-going");
  options.findings_only = line.has("findings") || only_of_findings(options.output);
  options.now = line.convert("now", time_from);
  options.plugins = line.values("plugin");
  options.pythons = line.convert_all("python", python_from);
  options.python_command = line.value("python-command").value_or(options.python_command);
  options.reports = line.convert_all("report", report_from);
  options.on_trigger = line.value("on-trigger");
  if (const auto timeout = line.convert("trigger-timeout", trigger_timeout_from)) {
    refuse_if(!options.on_trigger && options.pythons.empty(),
              "--trigger-timeout needs --on-trigger or --python: without them no command is run");
    options.trigger_timeout = *timeout;
  }
  options.allow_empty = line.has("allow-empty");
  options.exit_zero = line.has("exit-zero");
  options.shard = line.convert("shard", [](const std::string& text) { return Shard::parse(text); });
  options.merge = line.has("merge");
  check(options, line);
  options.keep_going = options.keep_going || options.merge;  // the findings in the files are printed
  return options;
}

}  // namespace smd::tool::rule
