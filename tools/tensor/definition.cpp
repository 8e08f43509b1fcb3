// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "rows/curves.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

namespace {

std::vector<ColumnTable> column_tables() {
  return {column_table("", rows_view_columns()), column_table("--stat", stat_view_columns()),
          column_table("--hist", hist_view_columns()),
          column_table("--pivot", pivot_view_columns(), "each scalar by its name; worker only with -w all"),
          column_table("--spark", curve_columns())};
}

}  // namespace

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-tensor",
      .synopsis = "[OPTION]... [TRIAL]... [NAME]...",
      .summary =
          "Prints the values of tensors that a training job saved: those named or selected, else all, at their "
          "last step.",
      .brief = "print the values of tensors that a training job saved",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = false, .repeats = false, .here = true},
                   {.metavar = "NAME", .kind = ArgumentKind::tensor, .required = false, .repeats = true}},
      .examples = {{"the loss at every step", "smd-tensor run -c losses -s :"},
                   {"all losses side by side, a row for each step", "smd-tensor run --pivot -c losses"},
                   {"statistics of all gradients, last saved step", "smd-tensor run -c gradients --stat"},
                   {"one weight as a NumPy file", "smd-tensor run DigitNet_fc.weight -f npy -o w.npy"},
                   {"all weights, each as a file", "smd-tensor run -c weights -f npy -o weights/"}},
      .option_tables = {TensorOptions::table(), SelectionOptions::name_table(), SelectionOptions::table(),
                        ReadingOptions::superseded_table(), OutputOptions::table(), PictureOptions::table(),
                        ReadingOptions::table(), FollowingOptions::table(), MessageOptions::table()},
      .formats = tensor_format_names(),
      .exit_notes = {{ExitStatus::yes, "what was asked for was printed"},
                     {ExitStatus::no, "nothing is selected, or something named does not exist"},
                     {ExitStatus::usage, "wrong usage, or a slice or format that does not fit the value"},
                     {ExitStatus::unreadable, "cannot read or write"},
                     {ExitStatus::damaged, "damaged data; the readable rest was printed"},
                     {ExitStatus::timed_out, "--timeout or --idle ended --follow"}},
      .see_also = {"smd-ls(1)", "smd-reduce(1)", "smd-trial(5)"},
      .columns = column_tables,
  };
  return definition;
}

}  // namespace smd::tool::tensor
