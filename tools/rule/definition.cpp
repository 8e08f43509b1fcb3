// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "rule_views.hpp"

namespace smd::tool::rule {

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-rule",
      .synopsis = "[OPTION]... TRIAL... -r RULE",
      .summary = "Evaluate rules about the health of training: those of Amazon SageMaker Debugger, and your own.",
      .brief = "evaluate rules about the health of a training job",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = false, .repeats = true}},
      .examples = {{"do gradients vanish?", "smd-rule run -r VanishingGradient"},
                   {"two rules, one with a parameter",
                    "smd-rule run -r Overfit -r LossNotDecreasing -p Overfit.patience=3"},
                   {"the rules of a SageMaker job, in CI",
                    "smd-rule run -C job.json -f github --report junit=smd.xml"}},
      .option_tables = {RuleOptions::table(), RuleCommandOptions::table(), RuleCommandOptions::step_table(),
                        OutputOptions::table(), ReadingOptions::table(), FollowingOptions::table(),
                        MessageOptions::table()},
      .formats = report_formats(),
      .exit_notes =
          {{ExitStatus::yes, "every rule was evaluated and none triggered"},
           {ExitStatus::no, "a rule triggered, or something named does not exist"},
           {ExitStatus::usage,
            "wrong usage, an unknown rule or parameter, or a bad value (the other rules were evaluated), or parts that "
            "do not belong together"},
           {ExitStatus::unreadable,
            "a trial cannot be read, a part or Python for --python is not there, or a report not written"},
           {ExitStatus::damaged,
            "a record that a rule asked for could not be read, other data are damaged, or a rule failed (one in Python "
            "raised an exception); the rest was evaluated"},
           {ExitStatus::nothing_evaluated, "a rule had nothing to evaluate"},
           {ExitStatus::timed_out, "with --follow, the job went on after --timeout, or no step came within --idle"}},
      .see_also = {"smd-ls(1)", "smd-tensor(1)", "smd-reduce(1)", "smd-rules(7)", "smd-trial(5)"},
      .columns = column_tables,
  };
  return definition;
}

}  // namespace smd::tool::rule
