// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/text.hpp"
#include "comparison.hpp"
#include "operands/operands.hpp"
#include "paired_steps.hpp"
#include "select/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace smd::tool::diff {

namespace {

SelectionNeeds needs() {
  return {.counts = [](const TensorEntry& entry) {
    return entry.value.has_value() || !entry.reductions.empty() || entry.shape.has_value();
  }};
}

StepRange range_of(const SelectionOptions& options) {
  return options.steps ? range_to_read_of_tensors(options, *options.steps) : StepRange();
}

/// Returns the most workers that saved one of the selected tensors.
std::size_t most_workers(const ComparedTrial& side) {
  std::size_t most = 0;
  for (const TensorSummary& of :
       side.selection.empty() ? std::vector<TensorSummary>() : side.trial.summaries(side.selection.tensors)) {
    most = std::max(most, of.workers.size());
  }
  return most;
}

}  // namespace

ExitStatus run(const DiffCommandOptions& options, Diagnostics& messages) {
  const std::vector<std::string> operands = all_operands(options.operands, options.output.null_separated, messages);
  refuse_if(operands.size() > 2 || (operands.size() < 2 && !options.steps_b),
            "smd-diff compares two trials, or with -s N,M two steps of one");
  OutputFile out = options.output.open(options.svg());
  PictureOutput picture(out, options.output);
  const std::unique_ptr<DiffView> view = make_view(picture.to(), options, operands, messages);
  SelectionOptions of_b = options.selection;
  if (options.steps_b) {
    of_b.steps = options.steps_b;
  }
  const auto compare = [&](Trial& trial_a, Trial& trial_b) {
    ComparedTrial a = {trial_a, operands.front(), options.selection};
    ComparedTrial b = {trial_b, operands.back(), of_b};
    for (ComparedTrial* const side : {&a, &b}) {
      const AboutTrial about(side->name);
      side->selection = select(side->trial, side->options, needs(), messages);
      if (side == &a || &trial_a != &trial_b) {
        note_superseded(side->trial, side->options, {}, options.reading, messages);
      }
    }
    const AboutTrial both({});
    a.names = NameMapping(options, true, a.selection.tensors);
    b.names = NameMapping(options, false, b.selection.tensors);
    if (const std::string joining =
            joining_prefix(a.names.shown_names(a.selection.tensors), b.names.shown_names(b.selection.tensors));
        !joining.empty()) {
      messages.note(joining);
    }
    if (!options.selection.worker && !options.selection.all_workers && !options.output.quiet) {
      if (const std::size_t workers = std::min(most_workers(a), most_workers(b)); workers > 1) {
        messages.note(fmt::format("{} {} not compared: -w all compares all", counted(workers - 1, "more worker"),
                                  workers == 2 ? "is" : "are"));
      }
    }
    view->begin();
    compare_trials(a, b, options, *view, messages);
  };
  const auto open = [&](const std::string& operand, const StepRange& range, const std::function<void(Trial&)>& visit) {
    with_trial(operand, options.reading.trial_options(range), messages, visit, hint_for(operand, options.operands));
  };
  if (operands.size() == 1) {
    open(operands.front(), range_of(options.selection), [&](Trial& both) {
      both.load_range(range_of(of_b));
      compare(both, both);
    });
  } else {
    open(operands.front(), range_of(options.selection), [&](Trial& a) {
      const AboutTrial none({});
      open(operands.back(), range_of(of_b), [&](Trial& b) { compare(a, b); });
    });
  }
  view->finish();
  picture.close(messages);
  return ExitStatus::yes;
}

namespace {

constexpr std::array<Prose, 7> prose = {{
    {.title = "STATES",
     .text =
         "A row is printed for each tensor, step and worker that is not equal, with --all for each. equal: all "
         "elements are; differs: some are not, or dtype_a and dtype_b tell that the same ones mean something else "
         "(another scale or zero point, another size of a sparse tensor); dtype: equal as numbers, but of two element "
         "types; shape: of two "
         "shapes, so that elements cannot be compared; only_a, only_b: saved in one trial only; unread: one of the "
         "two cannot be read, and a message says why. Names must be the same; workers too with -w all, else the "
         "first worker of each trial is compared.\n\n"
         "Where a tensor was saved as statistics, without values, in both trials, the saved statistics are "
         "compared: size is then their number, and a statistic that one trial lacks differs. Where both saved "
         "shapes alone, the shapes are. A tensor that has a value in one trial, and none in the other, is only_a "
         "or only_b, with a warning."},
    {.title = "STATISTICS",
     .text =
         "Elements differ unless |a - b| <= atol + rtol |b|, as in numpy.isclose. NaN equals NaN, unless "
         "--no-equal-nan is given, and an infinity the same infinity. Of a pair of which one number is not finite, "
         "max_abs is infinite; all other statistics are over pairs of finite numbers, in double precision, "
         "including pairs within the tolerance: max_abs is the largest |a - b|, max_rel the largest |a - b| / |b|, "
         "mean_abs and rmse the mean of |a - b| and the root of the mean square, l2_a, l2_b and l2_diff roots of "
         "sums of squares, rel_l2 is l2_diff / l2_a, the change in proportion to what A has, and cosine the sum of "
         "products / (l2_a l2_b). 0 / 0 counts as "
         "0; a cosine with zeros alone is NA. 64-bit integers are subtracted without rounding. Booleans count as 0 "
         "and 1; text has only size, differing and first. first is the index of the first element that differs, in "
         "C order. shape_a, shape_b, dtype_a and dtype_b are NA where neither the index nor a header tells them and "
         "the value was not read.\n\n"
         "A table shows the columns that tell most, and shapes and element types of rows whose state they explain; "
         "--columns shows others. Other formats have all columns."},
    {.title = "STEPS",
     .text = "Without -s, all steps that both trials have are compared; if each trial has one step, these two, "
             "whatever their numbers. With -m the steps of that mode are matched by mode step. -s chooses steps of "
             "both; with --steps-b it chooses those of A, and as many of B are matched with them in order. With one "
             "trial, -s N,M compares its step N, as A, with its step M, as B. first, last and negative numbers count "
             "each tensor's own steps. Steps of one trial that the other lacks are not compared, and a note says so."},
    {.title = "POOLING",
     .text = "What --by leaves out is pooled: the elements of all such values count as one array, so that --by step "
             "is the distance of two models, step by step. Pairs that cannot be compared element by element are not in "
             "the pool, and a warning says so. A pool with such pairs is never equal."},
    {.title = "SUMMARY",
     .text =
         "--summary counts tensors: equal means equal at all steps, only_a and only_b are those that are nowhere in "
         "both; all others count as differing, except those that could not be read. Of those that differ, dtype are "
         "equal as numbers at all steps, and shape have elements that cannot be compared. first_step is the first step "
         "of A at which something is not equal."},
    {.title = "PICTURES",
     .text = "-f svg draws max_abs, l2_diff and rel_l2 over A's steps, a chart each: with --by step one curve of all "
             "that is selected, with --by tensor,step one for each tensor. What is equal counts as 0."},
    {.title = "READING PICTURES", .text = picture_prose},
}};

}  // namespace

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-diff",
      .synopsis = "[OPTION]... A [B]",
      .summary = "Compares what two trials saved, or two steps of one, element by element.",
      .brief = "compare the tensors that two training jobs saved",
      .operands = {{.metavar = "A", .kind = ArgumentKind::trial, .required = true},
                   {.metavar = "B", .kind = ArgumentKind::trial, .required = false, .repeats = true}},
      .examples = {{.purpose = "which tensors differ, and by how much", .command = "smd-diff good bad"},
                   {.purpose = "what changed between two steps of one trial", .command = "smd-diff run -s first,last"},
                   {.purpose = "are they the same, up to rounding?",
                    .command = "smd-diff -q good bad --rtol 1e-5 --atol 1e-8"}},
      .option_tables = {DiffCommandOptions::table(), SelectionOptions::name_table(), SelectionOptions::table(),
                        OutputOptions::table(), PictureOptions::table(), ReadingOptions::table(),
                        MessageOptions::table()},
      .formats = row_and_picture_format_names(),
      .exit_notes = {{ExitStatus::yes, "the same: all that is selected is equal"},
                     {ExitStatus::no, "not the same, nothing is selected, or something named does not exist"},
                     {ExitStatus::usage, "wrong usage"},
                     {ExitStatus::unreadable, "cannot read or write"},
                     {ExitStatus::damaged, "damaged data; what can be read was compared"}},
      .prose = prose,
      .see_also = {"smd-ls(1)", "smd-reduce(1)", "smd-trial(5)"},
      .columns = column_tables,
  };
  return definition;
}

}  // namespace smd::tool::diff
