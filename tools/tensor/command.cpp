// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "common/operands.hpp"
#include "values.hpp"

#include <span>

namespace smd::tool::tensor {

void TensorCommand::setup(const CommandLine& line) { options_ = TensorOptions::from(line); }

ExitStatus TensorCommand::run(Diagnostics& messages) {
  for_each_listed(options_.names, options_.output.null_separated, [&](const std::string& name) {
    options_.selection.names.push_back(name);
    return true;
  });
  // Names that standard input was to give: if it gives none, none is meant, not all.
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
  with_trial(options_.trial, options_.reading.trial_options(range_to_open(options_)), messages, [&](Trial& trial) {
    const std::unique_ptr<ValueView> view = make_view({out, options_, messages, trial});
    shown = show_values(trial, options_, *view, messages);
  });
  // A file appears if it holds what was asked for, or the part of it that could be read.
  if (shown) {
    out.close(messages);
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::tensor
