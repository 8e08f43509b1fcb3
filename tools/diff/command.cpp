// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "operands/operands.hpp"
#include "paired_steps.hpp"
#include "select/select.hpp"
#include "view.hpp"

#include <algorithm>
#include <functional>

namespace smd::tool::diff {

namespace {

StepRange range_of(const SelectionOptions& options) {
  return options.steps ? range_to_read_of_tensors(options, *options.steps) : StepRange();
}

}  // namespace

ExitStatus run(const DiffCommandOptions& options, Diagnostics& messages) {
  const std::vector<std::string> operands = all_operands(options.operands, options.output.null_separated, messages);
  refuse_if(operands.size() > 2 || (operands.size() == 1 && !options.steps_b),
            "smd-diff compares two trials, or with -s N,M two steps of one");
  PictureOutput picture(options.output.open(options.svg()), options.output);
  const std::vector<std::string>& shown = operands.empty() ? options.operands : operands;
  const std::unique_ptr<DiffView> view = make_view(picture.to(), options, shown, messages);
  SelectionOptions of_b = options.selection;
  if (options.steps_b) {
    of_b.steps = options.steps_b;
  }
  const auto compare = [&](Trial& trial_a, Trial& trial_b) {
    ComparedTrial a = {trial_a, operands.front(), options.selection};
    ComparedTrial b = {trial_b, operands.back(), of_b};
    for (ComparedTrial* const side : {&a, &b}) {
      const AboutTrial about(side->name);
      const std::size_t written = std::max(side->trial.writers().size(), side->trial.workers().size());
      side->several_workers = std::max(written, side->trial.num_workers()) > 1;
      side->selection = select(side->trial, side->options, {.counts = has_content}, messages);
      if (side == &a || &trial_a != &trial_b) {
        note_superseded(side->trial, side->options, {}, options.reading, messages);
        note_incomplete(side->trial, side->selection, side->options, {}, messages);
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
    if (!options.selection.worker && !options.selection.all_workers &&
        std::max(a.trial.writers().size(), b.trial.writers().size()) > 1) {
      messages.note("the first worker of each trial is compared: -w all compares all");
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
  } else if (operands.size() == 2) {
    open(operands.front(), range_of(options.selection), [&](Trial& a) {
      const AboutTrial none({});
      open(operands.back(), range_of(of_b), [&](Trial& b) { compare(a, b); });
    });
  }
  view->finish();
  picture.close(messages);
  return ExitStatus::yes;
}

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-diff",
      .synopsis = "[OPTION]... A [B]",
      .summary = "Compares what two trials saved, or two steps of one, element by element.",
      .brief = "compare the tensors that two training jobs saved",
      .operands = {{.metavar = "A", .kind = ArgumentKind::trial, .required = true},
                   {.metavar = "B", .kind = ArgumentKind::trial, .required = false, .repeats = true}},
      .examples = {{"which tensors differ, and by how much", "smd-diff good bad"},
                   {"what changed between two steps of one trial", "smd-diff run -s first,last"},
                   {"are they the same, up to rounding?", "smd-diff -q good bad --rtol 1e-5 --atol 1e-8"}},
      .option_tables = {DiffCommandOptions::table(), SelectionOptions::name_table(), SelectionOptions::table(),
                        OutputOptions::table(), PictureOptions::table(), ReadingOptions::table(),
                        MessageOptions::table()},
      .formats = row_and_picture_format_names(),
      .exit_notes = {{ExitStatus::yes, "the same: all that is selected is equal"},
                     {ExitStatus::no, "not the same, nothing is selected, or something named does not exist"},
                     {ExitStatus::usage, "wrong usage"},
                     {ExitStatus::unreadable, "cannot read or write"},
                     {ExitStatus::damaged, "damaged data; what can be read was compared"}},
      .see_also = {"smd-ls(1)", "smd-reduce(1)", "smd-trial(5)"},
      .columns = column_tables,
  };
  return definition;
}

}  // namespace smd::tool::diff
