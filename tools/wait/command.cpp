// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "cli/output_file.hpp"
#include "cli/text.hpp"
#include "condition.hpp"
#include "follow/followed_trials.hpp"
#include "operands/operands.hpp"
#include "rows/row_writer.hpp"
#include "select/explanations.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smd::tool::wait {

namespace {

constexpr std::array<Column, 7> columns = {{{"step", Align::right},
                                            {"mode"},
                                            {"mode_step", Align::right},
                                            {"state"},
                                            {"reason"},
                                            {.name = "tensor", .if_any = true},
                                            {.name = "value", .align = Align::right, .if_any = true}}};

/// Waits for one trial after another: the conditions must hold for all.
class Waiting {
 public:
  Waiting(const WaitCommandOptions& options, RowWriter& rows, Diagnostics& messages)
      : options_(options),
        wait_(options.waiting.wait_options({})),
        conditions_(conditions_of(options)),
        rows_(rows),
        messages_(messages) {}

  void wait_for(const std::string& path) {
    rows_.set_trial(path);
    try {
      TrialOptions reading = options_.reading.trial_options(range_for(conditions_));
      reading.name = path;
      options_.waiting.end_requests(reading, path, wait_);
      say_remote(reading, messages_);
      std::optional<Trial> trial = open_awaited(path, reading, options_.waiting, wait_, messages_, Level::info);
      if (!trial) {
        show(path, nullptr, std::vector<Standing>(conditions_.size()));
        return;
      }
      add_input(path, trial->path());
      if (!check_modes(*trial, options_.selection.modes, messages_)) {
        return;
      }
      wait_for(path, *trial);
      for (const Problem& problem : trial->problems()) {
        messages_.report_once(problem, trial->path());
      }
    } catch (const InvalidArgument& error) {
      throw UsageError(error.what());
    } catch (const MatchLimit& error) {
      throw UsageError(error.what());
    } catch (const Error& error) {
      messages_.fail(error, path);
    }
  }

 private:
  void wait_for(const std::string& path, Trial& trial) {
    if (messages_.shows(Level::info)) {
      messages_.info(path + ": watched by " + trial.watch_method());
    }
    std::vector<Standing> standings;
    bool doubted = false;
    const WaitOutcome outcome = trial.wait_until(
        [&] {
          standings.clear();
          for (const Condition& condition : conditions_) {
            standings.push_back(standing_of(condition, trial));
          }
          // The last steps may still come as the job ends. Before its end, two looks must agree on "no".
          const bool no = !trial.ended() && hopeless(standings);
          return holds(standings) || (std::exchange(doubted, no) && no);
        },
        wait_);
    idle_ = outcome == WaitOutcome::idle;
    show(path, &trial, standings);
  }

  [[nodiscard]] bool holds(const std::vector<Standing>& standings) const {
    const auto available = [](const Standing& standing) { return standing.state == StepState::available; };
    return options_.any ? std::any_of(standings.begin(), standings.end(), available)
                        : std::all_of(standings.begin(), standings.end(), available);
  }

  [[nodiscard]] bool hopeless(const std::vector<Standing>& standings) const {
    const auto unavailable = [](const Standing& standing) { return standing.state == StepState::unavailable; };
    return options_.any ? std::all_of(standings.begin(), standings.end(), unavailable)
                        : std::any_of(standings.begin(), standings.end(), unavailable);
  }

  void show(const std::string& path, Trial* trial, const std::vector<Standing>& standings) {
    const bool decided = trial != nullptr && (holds(standings) || hopeless(standings));
    const bool unread = trial != nullptr && partly_unread(*trial);
    const bool printed = options_.wants_records() || !holds(standings);
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
      const Condition& condition = conditions_[i];
      const Standing& standing = standings[i];
      std::string_view reason;
      if (standing.state == StepState::unavailable && unread) {
        if (!holds(standings)) {
          messages_.note(path + ": " + condition.text + ": cannot be told, not all of the trial can be read");
        }
      } else if (standing.state == StepState::unavailable) {
        reason = standing.skipped ? "StepUnavailable" : "NoMoreData";
      } else if (standing.state == StepState::not_yet_available && !decided) {
        reason = "Timeout";
      }
      for (const Problem& problem : standing.problems) {
        messages_.report_once(problem, path);
      }
      Cell step;
      Cell mode;
      Cell mode_step;
      if (standing.step && trial != nullptr) {
        step = standing.step->value;
        const std::optional<Mode> own = trial->mode(*standing.step);
        mode = to_string(own.value_or(condition.mode));
        mode_step = trial->mode_step(*standing.step).value_or(ModeStep(standing.step->value)).value;
      } else if (condition.kind == Condition::Kind::step ||
                 (condition.kind == Condition::Kind::tensor && condition.number)) {
        (condition.mode == Mode::global ? step : mode_step) = *condition.number;
        if (condition.mode != Mode::global) {
          mode = to_string(condition.mode);
        }
      }
      if (printed) {
        const bool of_value = condition.kind == Condition::Kind::value;
        rows_.row({step, mode, mode_step, to_string(standing.state), reason,
                   of_value ? Cell(condition.comparison.name) : Cell(), standing.value.value_or(Cell())});
      }
      if (trial != nullptr && !holds(standings) && !reason.empty()) {
        say(path + ": " + condition.text, standing, reason, advice_for(condition, standing, *trial));
      }
    }
    rows_.end_step();
  }

  void say(const std::string& text, const Standing& standing, std::string_view reason, const std::string& advice) {
    if (standing.state == StepState::not_yet_available) {
      const std::string why = idle_ ? "; no new step came within " + duration_text(*options_.waiting.idle) : "";
      messages_.fail(reason, text + ": not yet" + advice + why, ExitStatus::timed_out);
    } else if (standing.skipped) {
      messages_.fail(reason, text + ": was not saved" + advice, ExitStatus::no);
    } else {
      messages_.fail(reason, text + ": never came, the job has ended" + advice, ExitStatus::no_more_data);
    }
  }

  const WaitCommandOptions& options_;
  WaitOptions wait_;
  std::vector<Condition> conditions_;
  RowWriter& rows_;
  Diagnostics& messages_;
  bool idle_ = false;  // how the last wait ended
};

}  // namespace

std::vector<ColumnTable> column_tables() { return {column_table("", columns)}; }

void WaitCommand::setup(const CommandLine& line) { options_ = WaitCommandOptions::from(line); }

ExitStatus WaitCommand::run(Diagnostics& messages) {
  OutputFile out = options_.output.open();
  RowWriter rows(out, options_.output, columns, may_be_several(options_.operands), messages);
  Waiting waiting(options_, rows, messages);
  for_each_operand(options_.operands, options_.output.null_separated, messages, [&](const std::string& operand) {
    waiting.wait_for(operand);
    return true;
  });
  if (rows.rows() > 0 || options_.wants_records()) {
    rows.finish();
  }
  out.close(messages);
  return ExitStatus::yes;
}

}  // namespace smd::tool::wait
