// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"
#include "rows/row_writer.hpp"

#include <array>

namespace smd::tool::wait {

namespace {

constexpr std::array<OperandSpec, 1> operands = {{{"TRIAL", ArgumentKind::trial, true, true}}};

constexpr std::array<Example, 4> examples = {{
    {"until the job has begun to save, at most ten minutes", "smd-wait --timeout 10m run"},
    {"until training step 20 can be read", "smd-wait -m train -s 20 run"},
    {"until the loss is below 2.3", "smd-wait --until 'CrossEntropyLoss_output_0 < 2.3' run"},
    {"act on each step until the job ends",
     R"(s=-1; while s=$(smd-wait run --after "$s" --columns step); do smd-tensor run -c losses -s "$s"; done)"},
}};

constexpr std::array<ExitNote, 7> exit_notes = {{
    {ExitStatus::yes, "the conditions hold"},
    {ExitStatus::no, "a step was skipped, or a tensor was not saved at it (StepUnavailable)"},
    {ExitStatus::usage, "an option or a pattern is wrong"},
    {ExitStatus::unreadable,
     "a trial cannot be read, or was removed; nothing was saved; with --timeout 0, no such path"},
    {ExitStatus::damaged, "something in a trial is damaged"},
    {ExitStatus::no_more_data, "the job ended first (NoMoreData)"},
    {ExitStatus::timed_out, "not yet, and the time is up"},
}};

constexpr std::array<Prose, 1> prose = {{
    {"CONDITIONS",
     "All conditions must hold, for each trial; with --any, one. Without any, all collections files must be there: the "
     "job has begun to save. smd-wait waits for a path that does not exist yet.\n\n"
     "Steps count when all workers have written them, or later ones, or the job is over. The job counts as ended if "
     "nothing changed for SMDEBUG_TRAINING_END_DELAY_REFRESH seconds (1) after its marker. Waiting ends at once when a "
     "condition can no longer come true.\n\n"
     "Nothing is printed when the conditions hold: the status says it. With --after, -f (or --json and the like), -o "
     "or "
     "--columns, and where the conditions do not hold, there is one record for each condition: the step that it is "
     "about (of --after, the one that came; of --count, the last one counted), its state (AVAILABLE, UNAVAILABLE, "
     "NOT_YET_AVAILABLE), and the reason if it is not available: StepUnavailable, NoMoreData or Timeout.\n\n"
     "--timeout limits the whole wait, --idle the time without a new complete step, both with status 124. --timeout 0 "
     "asks once.\n\n"
     "With -m, the numbers given to -s and --after are mode steps, while the record's step is always the global one. "
     "In a loop with --after, use --columns mode_step: s=-1; while s=$(smd-wait run -m train --after $s --columns "
     "mode_step); do smd-tensor run loss -m train -s $s; done."},
}};

constexpr std::array<std::string_view, 3> see_also = {"smd-ls(1)", "smd-tensor(1)", "smd-trial(5)"};

}  // namespace

const CommandDefinition& WaitCommand::definition() const {
  static const CommandDefinition definition = {
      .name = "smd-wait",
      .synopsis = "[OPTION]... TRIAL...",
      .summary = "Waits until a training job has saved what is asked for.",
      .brief = "wait for what a training job saves",
      .operands = operands,
      .examples = examples,
      .option_tables = {WaitCommandOptions::table(), OutputOptions::table(), ReadingOptions::table(),
                        FollowingOptions::waiting_table(), MessageOptions::table()},
      .formats = row_format_names(),
      .exit_notes = exit_notes,
      .prose = prose,
      .see_also = see_also,
      .columns = column_tables,
  };
  return definition;
}

}  // namespace smd::tool::wait
