// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "columns.hpp"

namespace smd::tool::reduce {

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-reduce",
      .synopsis = "[OPTION]... [TRIAL]...",
      .summary = "Reduces the values of tensors to numbers: saved ones where the job saved them, else computed.",
      .brief = "reduce tensors that a training job saved to numbers",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = false, .repeats = true, .here = true}},
      .examples = {{"least, greatest, mean and deviation of every value", "smd-reduce run"},
                   {"the global gradient norm, step by step", "smd-reduce run -c gradients --by step -r l2"},
                   {"mean and deviation over seeds, step by step", "smd-reduce runs/a runs/b --across -r mean,std"},
                   {"the newest weights: NaN, zeros and the 99th percentile",
                    "smd-reduce run -c weights -s last -r nan,zero,p99"}},
      .option_tables = {ReduceCommandOptions::table(), SelectionOptions::name_table(), SelectionOptions::table(),
                        ReadingOptions::superseded_table(), OutputOptions::table(), PictureOptions::table(),
                        ReadingOptions::table(), FollowingOptions::table(), MessageOptions::table()},
      .formats = row_and_picture_format_names(),
      .exit_notes = {{ExitStatus::yes, "what was asked for was printed"},
                     {ExitStatus::no,
                      "nothing to reduce is selected, something named does not exist, or with --strict, something is "
                      "not available"},
                     {ExitStatus::usage,
                      "wrong usage, a slice that does not fit the value, or shards that cannot be pooled"},
                     {ExitStatus::unreadable, "cannot read or write"},
                     {ExitStatus::damaged, "damaged data; the readable rest was printed"},
                     {ExitStatus::timed_out, "--timeout or --idle ended --follow"}},
      .see_also = {"smd-ls(1)", "smd-tensor(1)", "smd-trial(5)"},
      .columns = column_tables,
  };
  return definition;
}

}  // namespace smd::tool::reduce
