// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "value_view.hpp"

#include <optional>
#include <span>
#include <utility>

namespace smd::tool::tensor {

void TensorCommand::setup(const CommandLine& line) { options_ = TensorOptions::from(line); }

namespace {

/// Nullopt if the trial cannot be read: reading it reports why.
std::optional<Trial> opened_or_none(const std::string& path, const TrialOptions& options) {
  try {
    return Trial::open(path, options);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Adds the names among the operands to those of -n, and returns the trials. The first operand is a trial; a later one
/// is the name of one of its tensors, else a further trial if it is a place. What standard input lists is trials if no
/// operand stands before it, else names.
std::vector<std::string> take_names(TensorOptions& options, Diagnostics& messages) {
  std::span<const std::string> operands = options.operands;
  const bool null_separated = options.output.null_separated;
  if (operands.front() == "-") {
    options.several_trials = true;
    return all_operands(operands, null_separated, messages);
  }
  const bool listed = lists_operands(operands);
  if (listed) {
    operands = operands.first(operands.size() - 1);
  }
  const TrialOptions opening = options.reading.trial_options();
  const std::string& first = operands.front();
  if (!is_place(first)) {
    if (const auto trial = trial_with_tensor(first, operands.subspan(1), opening)) {
      throw UsageError(single_quoted(first) + " is a tensor of " + single_quoted(*trial) +
                       ": the trial comes first, then names: smd-tensor " + *trial + " " + first);
    }
  }
  std::vector<std::string> trials{first};
  std::vector<std::string>& names = options.selection.names;
  std::optional<Trial> trial;  // opened once, for the first place
  bool opened = false;
  for (const std::string& operand : operands.subspan(1)) {
    refuse_if(operand == "-", "'-' must be the last operand");
    const bool place = is_place(operand);
    if (place && !std::exchange(opened, true)) {
      trial = opened_or_none(first, opening);
    }
    (place && !(trial && trial->has_tensor(operand)) ? trials : names).push_back(operand);
  }
  options.several_trials = trials.size() > 1;
  if (listed) {
    const std::string list = "-";
    const std::vector<std::string> more = OperandSource(std::span(&list, 1), null_separated).rest();
    names.insert(names.end(), more.begin(), more.end());
  }
  return trials;
}

}  // namespace

ExitStatus TensorCommand::run(Diagnostics& messages) {
  const std::vector<std::string> trials = take_names(options_, messages);
  // If standard input was to list names and lists none, nothing is selected, not everything.
  if (options_.operands.size() > 1 && lists_operands(options_.operands) && !options_.selection.selects_tensors()) {
    say_nothing_listed(messages);
    return ExitStatus::no;
  }
  messages.name_trials(options_.several_trials);
  OutputFile out = options_.folder ? OutputFile::discard() : options_.output.open(options_.binary());
  PictureOutput picture(out, options_.output);
  // A file appears if it holds what was asked for, or the part of it that could be read.
  if (show_values(trials, options_, picture.to(), messages)) {
    picture.close(messages);
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::tensor
