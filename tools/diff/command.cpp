// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "columns.hpp"
#include "comparison.hpp"
#include "operands/operands.hpp"
#include "paired_steps.hpp"
#include "select/select.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace

void DiffCommand::setup(const CommandLine& line) { options_ = DiffCommandOptions::from(line); }

ExitStatus DiffCommand::run(Diagnostics& messages) {
  const std::vector<std::string> operands = all_operands(options_.operands, options_.output.null_separated, messages);
  if (operands.size() > 2 || (operands.size() < 2 && !options_.steps_b)) {
    throw UsageError("smd-diff compares two trials, or with -s N,M two steps of one");
  }
  OutputFile out = options_.output.open(options_.svg());
  PictureOutput picture(out, options_.output);
  const std::unique_ptr<DiffView> view = make_view(picture.to(), options_, operands, messages);
  SelectionOptions of_b = options_.selection;
  if (options_.steps_b) {
    of_b.steps = options_.steps_b;
  }
  const auto compare = [&](Trial& trial_a, Trial& trial_b) {
    ComparedTrial a = {trial_a, operands.front(), options_.selection};
    ComparedTrial b = {trial_b, operands.back(), of_b};
    for (ComparedTrial* const side : {&a, &b}) {
      const AboutTrial about(side->name);
      side->selection = select(side->trial, side->options, needs(), messages);
      if (side == &a || &trial_a != &trial_b) {
        note_superseded(side->trial, side->options, {}, options_.reading, messages);
      }
    }
    const AboutTrial both({});
    a.names = NameMapping(options_, true, a.selection.tensors);
    b.names = NameMapping(options_, false, b.selection.tensors);
    if (const std::string joining = joining_prefix(a.selection.tensors, b.selection.tensors);
        !joining.empty() && !a.names.changes()) {
      messages.note(joining);
    }
    view->begin();
    compare_trials(a, b, options_, *view, messages);
  };
  const auto open = [&](const std::string& operand, const StepRange& range, const std::function<void(Trial&)>& visit) {
    with_trial(operand, options_.reading.trial_options(range), messages, visit, hint_for(operand, options_.operands));
  };
  if (operands.size() == 1) {
    open(operands.front(), range_of(options_.selection), [&](Trial& both) {
      both.load_range(range_of(of_b));
      compare(both, both);
    });
  } else {
    open(operands.front(), range_of(options_.selection), [&](Trial& a) {
      const AboutTrial none({});
      open(operands.back(), range_of(of_b), [&](Trial& b) { compare(a, b); });
    });
  }
  view->finish();
  picture.close(messages);
  return ExitStatus::yes;
}

}  // namespace smd::tool::diff
