// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "values.hpp"

#include <deque>
#include <functional>
#include <memory>
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
    if (operand == "-") {
      throw UsageError("'-' must be the last operand");
    }
    const bool place = is_place(operand);
    if (place && !std::exchange(opened, true)) {
      trial = opened_or_none(first, opening);
    }
    (place && !(trial && trial->has_tensor(operand)) ? trials : names).push_back(operand);
  }
  options.several_trials = trials.size() > 1;
  if (listed) {
    const std::string list = "-";
    for_each_listed(std::span(&list, 1), null_separated, [&](const std::string& name) {
      names.push_back(name);
      return true;
    });
  }
  return trials;
}

/// Shows the values of one trial after the other. If the view must know all of them beforehand, the trials stay open
/// until the last one has been seen.
class Runner {
 public:
  Runner(const TensorOptions& options, const std::vector<std::string>& trials, OutputFile& out, Diagnostics& messages)
      : options_(options), trials_(trials), out_(out), messages_(messages) {}

  /// Whether the output holds what was asked for, or the part of it that could be read.
  bool run() {
    KeptTrials kept(options_.reading.trial_options(range_to_open(options_)), messages_);
    for (std::size_t i = 0; i < trials_.size() && !(view_ && view_->room() == 0); ++i) {
      kept.open(trials_[i], [this](Trial& trial) { return visit(trial); });
    }
    for (Opened& opened : opened_) {
      announce_values(opened.trial, options_, opened.selection, *view_, messages_);
    }
    for (Opened& opened : opened_) {
      const AboutTrial about(opened.trial.name());
      try {
        show(opened);
      } catch (const Error& error) {
        messages_.fail(error, opened.trial.name());
      }
    }
    const bool whole = view_ && (shown_ || !options_.binary());
    if (whole) {
      view_->finish();
    }
    kept.close();
    return whole;
  }

 private:
  struct Opened {
    Trial& trial;
    ValueSelection selection;
    bool explained = false;  ///< It was said why there is nothing.
  };

  /// Returns whether the trial stays open.
  bool visit(Trial& trial) {
    if (!view_) {
      view_ = make_view({out_, options_, messages_, options_.several_trials});
    }
    Opened opened{trial, {}, false};
    apart([&] {
      opened.selection = select_values(trial, options_, messages_);
      note_superseded(trial, options_.selection, default_steps(options_), options_.reading, messages_);
      opened.explained = opened.selection.empty() && messages_.status() != ExitStatus::yes;
    });
    if (!view_->plans()) {
      show(opened);
      return false;
    }
    opened_.push_back(std::move(opened));
    return true;
  }

  void show(Opened& opened) {
    if (opened.explained) {
      return;
    }
    view_->set_trial(opened.trial.name());
    apart([&] { shown_ = show_values(opened.trial, options_, opened.selection, *view_, messages_) || shown_; });
    view_->end_trial();
  }

  /// Whether something is still to be explained of a trial depends on what was said of it, not of others.
  void apart(const std::function<void()>& work) {
    if (!options_.several_trials) {
      work();
      return;
    }
    HeldMessages held(messages_);
    work();
    held.release();
    held.say();
  }

  const TensorOptions& options_;
  const std::vector<std::string>& trials_;
  OutputFile& out_;
  Diagnostics& messages_;
  std::unique_ptr<ValueView> view_;  // made when a trial is open: nothing is printed without any
  std::deque<Opened> opened_;
  bool shown_ = false;
};

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
  const bool whole = options_.following.follow ? follow_values(trials, options_, picture.to(), messages)
                                               : Runner(options_, trials, picture.to(), messages).run();
  // A file appears if it holds what was asked for, or the part of it that could be read.
  if (whole) {
    picture.close(messages);
  }
  return ExitStatus::yes;
}

}  // namespace smd::tool::tensor
