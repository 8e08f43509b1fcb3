// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "rule_views.hpp"

#include <array>

namespace smd::tool::rule {

namespace {

constexpr std::array<Prose, 8> prose = {{
    {.title = "RULES",
     .text = "A rule is invoked at each complete step, in order, and may look back at earlier ones. Tensors that were "
             "not saved at a step are skipped; saved reductions are used where they suffice. All rules are evaluated "
             "in one pass in which each value is read once. --list names the rules; --describe tells the condition and "
             "the parameters of one. Parameters have the names and defaults of SageMaker's built-in rules.\n\n"
             "start_step and end_step are parameters of every rule; -s takes precedence. base_trial, rule_to_invoke "
             "and action_json are accepted and not used."},
    {.title = "RESULTS AND FINDINGS",
     .text = "There is one result for each rule and trial. It has record, trial, rule (the configuration's name, else "
             "the rule's), rule_to_invoke, status, then step, mode, mode_step, tensor, worker, check, value, threshold "
             "and message of the first finding, params (those in effect), tensors_matched, steps_evaluated, "
             "steps_skipped, findings (their number), first_step and last_step (the first and the last step at which "
             "something was evaluated), elapsed (seconds in the rule itself), kind and parameter (of an error), "
             "warnings, records_unread and pairs (the tensors that were compared, as train_name:eval_name, where names "
             "tell training from validation). With -k, each finding precedes it, with record, trial, rule and step to "
             "message. record distinguishes them: finding or result. --findings prints the findings alone.\n\n"
             "status is NoIssuesFound, IssuesFound, Error, InProgress or NotEvaluated: nothing was ever evaluated, and "
             "the message says why, with the names that may have been meant. kind is unread, exception (of a rule in "
             "Python), or of a configuration error unknown_rule, unknown_parameter, bad_value, missing_parameter, "
             "bad_config, bad_trial, custom_rule or unsupported_rule. Rules in Python of which no --python has the "
             "class (custom_rule), rules of SageMaker's profiler, and those that make reports (unsupported_rule) are "
             "NotEvaluated, with a warning, and leave the exit status to the other rules; where there are no others it "
             "is 5.\n\n"
             "NoIssuesFound is reported only if every record that the rule asked for was read. Otherwise the status is "
             "Error of kind unread, and the message says how many steps were evaluated, how many records were not read "
             "(records_unread; an index or collections file counts as one) and why; a rule that triggered says so in a "
             "warning. An event file that is missing and a record that is too short count as damage does, also while "
             "the job runs; with -F they are waited for first. So do elements of a type that is listed and not read. "
             "Rules look at real numbers: tensors without elements, of complex numbers or of text are skipped, and a "
             "warning names them (text only if the rule was not asked to look at every tensor)."},
    {.title = "REPORT FORMATS",
     .text = "text (the same as table) has a line a result: status, rule, step, finding. junit has a test suite for "
             "each trial and a test case for each rule; rules that were not evaluated are skipped. tap is version 13. "
             "github prints workflow commands, which GitHub shows as annotations. sagemaker prints "
             "DebugRuleEvaluationStatuses as describe-training-job does, where NotEvaluated is an error.\n\n"
             "With -q standard output stays empty; reports are written all the same."},
    {.title = "RULES IN PYTHON",
     .text =
         "--python FILE evaluates rules that are written for the reference, smdebug: classes that derive from "
         "smdebug.rules.Rule and have invoke_at_step and, if they like, set_required_tensors. The module smd, in the "
         "package python3-smd, stands in for smdebug. The constructor gets the base trial, the trial of --other as "
         "other_trials (a list) or other_trial, and the parameters of -p as texts. All rules and trials of one command "
         "are in one process, which reads the trials itself; what the rules print goes to standard error.\n\n"
         "A rule triggers where invoke_at_step returns true or RuleEvaluationConditionMet is raised; the finding has "
         "no tensor, worker and value. A step at which a tensor or step is missing is skipped, and counted. Any other "
         "exception ends the rule: its result is Error of kind exception, with the exception's last line and the line "
         "of the file; -v shows the traceback. So does the end of the process, or its silence for --trigger-timeout. "
         "Without Python or the module the status is 3, and other rules are evaluated all the same.\n\n"
         "With -C, a configuration that has source_s3_uri is evaluated if --python has the class that its "
         "rule_to_invoke names, under its own name and with its parameters. -s, -m and -F choose the steps as for "
         "other rules; -w does not narrow what a rule reads."},
    {.title = "FOLLOWING",
     .text =
         "With -F, each rule sees each step once it is complete, in order, until the job has ended or no rule wants to "
         "see more; the results are those of an evaluation after the fact. A result is reported when its rule is done. "
         "StalledTrainingRule uses this machine's clock, which starts when the command does. Several trials are "
         "followed at once. A signal ends it; reports are complete, and rules that found nothing are then InProgress."},
    {.title = "PARTS",
     .text = "--shard I/N evaluates the I-th of N runs of neighbouring trials, in the order given, which must be the "
             "same for all parts: the names of a list that is sorted. With --jsonl, the last line of a part has record "
             "part, part, parts, trials (of the whole), several (whether reports name trials), whole (a digest of "
             "trials and rules), records and status. A part that a signal ends leaves no file of -o or --report, and "
             "has no such line.\n\n"
             "--merge prints the results in files of JSON lines, as text or as any report, byte for byte as the whole "
             "would have, except for times; names that are not UTF-8 lose what JSON cannot hold. Parts come in the "
             "order of their trials, however the files are ordered; results without --shard come as they are given. "
             "The exit status is the whole's: whether it is 1 or 5 depends on the results alone, so that parts may be "
             "made with --exit-zero, which a scheduler regards as success, and be merged without. Parts of different "
             "wholes, and a part given twice, are refused (2). A part that is not there is status 3, a line that is no "
             "result, or a part that was cut off, 4; the rest is printed."},
    {.title = "PLACES OF SCHEDULERS", .text = scheduler_prose},
    {.title = "STOPPING A JOB",
     .text = "StalledTrainingRule can ask that its job be stopped. With -p stop_training_on_fire=True and -p "
             "training_job_name_prefix=NAME on the command line, the one SageMaker training job in progress whose name "
             "begins with NAME is stopped when the rule is triggered; if several do, or none, nothing is, and a "
             "message says so. What a file of configurations asks for stops nothing by itself, because such files are "
             "also used after the fact; where nothing was stopped that should have been, the result's warnings say "
             "why. Any other job is stopped by --on-trigger."},
}};

}  // namespace

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-rule",
      .synopsis = "[OPTION]... TRIAL... -r RULE",
      .summary = "Evaluate rules about the health of training: those of Amazon SageMaker Debugger, and your own.",
      .brief = "evaluate rules about the health of a training job",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = false, .repeats = true}},
      .examples = {{.purpose = "do gradients vanish?", .command = "smd-rule run -r VanishingGradient"},
                   {.purpose = "two rules, one with a parameter",
                    .command = "smd-rule run -r Overfit -r LossNotDecreasing -p Overfit.patience=3"},
                   {.purpose = "the rules of a SageMaker job, in CI",
                    .command = "smd-rule run -C job.json -f github --report junit=smd.xml"}},
      .option_tables = {RuleOptions::table(), RuleCommandOptions::table(), RuleCommandOptions::step_table(),
                        OutputOptions::table(), ReadingOptions::table(), FollowingOptions::table(),
                        MessageOptions::table()},
      .formats = report_formats(),
      .exit_notes =
          {{ExitStatus::yes, "every rule was evaluated and none triggered"},
           {ExitStatus::no, "a rule triggered, or something named does not exist"},
           {ExitStatus::usage,
            "wrong usage, an unknown rule or parameter, or a bad value (the other rules were evaluated), or parts that "
            "do not "
            "belong together"},
           {ExitStatus::unreadable,
            "a trial cannot be read, a part or Python for --python is not there, or a report not written"},
           {ExitStatus::damaged,
            "a record that a rule asked for could not be read, other data are damaged, or a rule in Python raised an "
            "exception; the rest was evaluated"},
           {ExitStatus::nothing_evaluated, "a rule had nothing to evaluate"},
           {ExitStatus::timed_out, "with --follow, the job went on after --timeout, or no step came within --idle"}},
      .prose = prose,
      .see_also = {"smd-ls(1)", "smd-tensor(1)", "smd-reduce(1)", "smd-rules(7)", "smd-trial(5)"},
      .more_examples =
          {{.purpose = "Stop a running job at the first NaN",
            .command = "smd-rule \"$T\" -r ExplodingTensor -F --on-trigger 'aws sagemaker stop-training-job "
                       "--training-job-name \"$J\"'"},
           {.purpose = "Which rules are there, and what does one need?",
            .command = "smd-rule --list; smd-rule --describe Overfit"},
           {.purpose = "Save what the rules need, and evaluate them",
            .command =
                "smd-rule --hook-config -r VanishingGradient,Overfit >hook.json; train.R | smd-save run -C hook.json "
                "--jsonl --end; smd-rule run -r VanishingGradient,Overfit"},
           {.purpose = "Every finding, not only the first step, as JSON lines",
            .command = "smd-rule run -r ExplodingTensor -k --jsonl"},
           {.purpose = "Many runs at once; xargs ends with 123 if a rule triggered in any",
            .command = "smd-ls --find runs -0 | xargs -0 -P8 -n1 smd-rule -C rules.json --jsonl"},
           {.purpose = "Many runs in two parts, one after the other or on two machines, and one report of both",
            .command =
                "for i in 1 2; do smd-ls --find runs | smd-rule - -C rules.json --shard $i/2 --jsonl -o part-$i.jsonl; "
                "done; smd-rule --merge part-*.jsonl -f junit -o smd.xml"},
           {.purpose = "A rule of your own in Python, beside a built-in one",
            .command = "smd-rule run -r Overfit --python my_rules.py:LargeLoss -p LargeLoss.bound=10"},
           {.purpose = "Without writing a rule: gradients that stay below a bound for three steps",
            .command =
                "smd-rule run -r Threshold -p collection_names=gradients -p reduction=mean -p abs=True -p 'operator=<' "
                "-p threshold=1e-7 -p for_steps=3"}},
      .columns = column_tables,
  };
  return definition;
}

}  // namespace smd::tool::rule
