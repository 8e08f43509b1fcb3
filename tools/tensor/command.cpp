// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "cli/operand_hints.hpp"
#include "cli/operands.hpp"
#include "cli/text.hpp"
#include "values.hpp"

#include <algorithm>
#include <span>

namespace smd::tool::tensor {

void TensorCommand::setup(const CommandLine& line) { options_ = TensorOptions::from(line); }

namespace {

// Only the first operand is a trial. A tensor whose name is that of a trial's folder is selected with -n.
void check_operands(const TensorOptions& options) {
  const auto trial = std::find_if(options.names.begin(), options.names.end(), is_trial_folder);
  if (trial == options.names.end()) {
    return;
  }
  if (!is_trial_folder(options.trial)) {
    throw UsageError(single_quoted(*trial) + " is a trial: it comes first, then names of tensors: smd-tensor " +
                     *trial + " " + options.trial);
  }
  throw UsageError(single_quoted(*trial) +
                   " is a trial, too: smd-tensor shows one; smd-reduce takes several, and for values " +
                   "call smd-tensor for each");
}

}  // namespace

ExitStatus TensorCommand::run(Diagnostics& messages) {
  check_operands(options_);
  for_each_listed(options_.names, options_.output.null_separated, [&](const std::string& name) {
    options_.selection.names.push_back(name);
    return true;
  });
  // If standard input was to list names and lists none, nothing is selected, not everything.
  if (!options_.names.empty() && !options_.selection.selects_tensors()) {
    say_nothing_listed(messages);
    return ExitStatus::no;
  }
  OutputFile out = options_.output.open(options_.binary());
  bool shown = false;
  if (options_.following.follow) {
    if (follow_values(options_, out, messages)) {
      out.close(messages);
    }
    return ExitStatus::yes;
  }
  PictureOutput picture(out, options_.output);
  with_trial(options_.trial, options_.reading.trial_options(range_to_open(options_)), messages, [&](Trial& trial) {
    const std::unique_ptr<ValueView> view = make_view({picture.to(), options_, messages, trial});
    shown = show_values(trial, options_, *view, messages);
  });
  // A file appears if it holds what was asked for, or the part of it that could be read.
  if (shown) {
    picture.close(messages);
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::tensor
