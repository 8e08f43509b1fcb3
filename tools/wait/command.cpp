// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/mapped.hpp"
#include "cli/output_file.hpp"
#include "condition.hpp"
#include "follow/followed_trials.hpp"
#include "operands/operands.hpp"
#include "rows/row_writer.hpp"
#include "select/explanations.hpp"
#include "text/whole_steps.hpp"

#include <smd/follow.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

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
      say_remote(reading.remote, messages_);
      std::optional<Trial> trial = open_awaited(path, reading, options_.waiting, wait_, messages_, Level::info);
      if (!trial) {
        show(path, nullptr, std::vector<Standing>(conditions_.size()));
        return;
      }
      add_input(trial->path());
      if (!check_modes(*trial, options_.selection.modes, messages_)) {
        show(path, nullptr,
             std::vector<Standing>(conditions_.size(), {.state = StepState::unavailable, .skipped = true}));
        return;
      }
      wait_for(path, *trial);
    } catch (const InvalidArgument& error) {
      throw UsageError(error.what());
    } catch (const Error& error) {
      messages_.fail(error, path);
    }
  }

 private:
  void wait_for(const std::string& path, Trial& trial) {
    if (messages_.shows(Level::info)) {
      messages_.info(path + ": watched by " + StepFollower(trial).method());
    }
    std::vector<Standing> standings;
    std::map<const Condition*, ReadValues> read;
    std::optional<detail::WholeSteps::Time> sure_at;
    const WaitOutcome outcome = trial.wait_until(
        [&] {
          standings = mapped(conditions_, [&](const Condition& one) { return standing_of(one, trial, read[&one]); });
          // The last steps may still come as the job ends. Before its end, two looks must agree on "no"; where another
          // file may bring lower steps late, all looks for some time.
          const bool no = !trial.ended() && hopeless(standings);
          const auto now = std::chrono::steady_clock::now();
          const bool sure = no && sure_at && now >= *sure_at;
          const auto later = trial.layout().marks_steps ? now : now + detail::WholeSteps::rest;
          sure_at = no ? std::optional(sure_at.value_or(later)) : std::nullopt;
          return sure || holds(standings);
        },
        wait_);
    idle_ = outcome == WaitOutcome::idle;
    if (idle_ || outcome == WaitOutcome::timed_out) {  // a value may have come late to a step that was read before
      const NoRefresh no_refresh(trial);
      read.clear();
      standings = mapped(conditions_, [&](const Condition& one) { return standing_of(one, trial, read[&one]); });
    }
    show(path, &trial, standings);
    for (const Problem& problem : trial.problems()) {
      // The last line of a log that grows is rarely finished: that only matters if more was waited for.
      if (!holds(standings) || !problem.unfinished || problem.kind != ProblemKind::remark) {
        messages_.report_once(problem, trial.path());
      }
    }
  }

  [[nodiscard]] static std::size_t count(const std::vector<Standing>& standings, StepState state) {
    return static_cast<std::size_t>(std::ranges::count(standings, state, &Standing::state));
  }
  [[nodiscard]] bool holds(const std::vector<Standing>& standings) const {
    return count(standings, StepState::available) >= (options_.any ? 1 : standings.size());
  }
  [[nodiscard]] bool hopeless(const std::vector<Standing>& standings) const {
    return count(standings, StepState::unavailable) >= (options_.any ? standings.size() : 1);
  }

  void show(const std::string& path, Trial* trial, const std::vector<Standing>& standings) {
    const bool decided = trial != nullptr && (holds(standings) || hopeless(standings));
    const bool unread = trial != nullptr && partly_unread(*trial);
    const bool printed = options_.wants_records() || !holds(standings);
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
      const Condition& condition = conditions_[i];
      const Standing& standing = standings[i];
      for (const Problem& problem : standing.problems) {
        messages_.report_once(problem, path);
      }
      std::string_view reason;
      if (standing.state == StepState::unavailable && (unread || !standing.problems.empty())) {
        if (!holds(standings)) {
          const std::string text = path + ": " + condition.text + ": unknown, because not all of the trial can be read";
          // Whether a value is lost for another reason than one that has a status of its own.
          const bool never_comes = std::ranges::any_of(standing.problems, [](const Problem& problem) {
            return problem.kind == ProblemKind::absent || problem.kind == ProblemKind::warning;
          });
          if (never_comes) {
            messages_.fail("Damaged", text, ExitStatus::damaged);
          } else {
            messages_.note(text);
          }
        }
      } else if (standing.state == StepState::unavailable) {
        reason = standing.skipped ? "StepUnavailable" : "NoMoreData";
      } else if (standing.state == StepState::not_yet_available && !decided) {
        reason = "Timeout";
      }
      Cell step;
      Cell mode;
      Cell mode_step;
      if (standing.step && trial != nullptr) {
        step = standing.step->value;
        mode = to_string(trial->mode(*standing.step).value_or(condition.mode));
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
        const bool by_step = condition.kind == Condition::Kind::collections && !trial->layout().marks_steps;
        say(path + ": " + (by_step ? "a first step" : condition.text), standing, reason,
            advice_for(condition, standing, *trial));
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

ExitStatus run(const WaitCommandOptions& options, Diagnostics& messages) {
  OutputFile out = options.output.open();
  RowWriter rows(out, options.output, columns, may_be_several(options.operands), messages);
  Waiting waiting(options, rows, messages);
  OperandSource operands = operand_source(options.operands, options.output.null_separated, messages);
  while (const std::optional<std::string> operand = operands.next()) {
    waiting.wait_for(*operand);
  }
  if (rows.rows() > 0 || options.wants_records()) {
    rows.finish();
  }
  out.close(messages);
  return ExitStatus::yes;
}

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-wait",
      .synopsis = "[OPTION]... TRIAL...",
      .summary = "Waits until a training job has saved what is asked for.",
      .brief = "wait for what a training job saves",
      .operands = {{"TRIAL", ArgumentKind::trial, true, true}},
      .examples =
          {{"until the job has begun to save, at most ten minutes", "smd-wait --timeout 10m run"},
           {"until training step 20 can be read", "smd-wait -m train -s 20 run"},
           {"until the loss is below 2.3", "smd-wait --until 'CrossEntropyLoss_output_0 < 2.3' run"},
           {"act on each step until the job ends",
            R"(s=-1; while s=$(smd-wait run --after "$s" --columns step); do smd-tensor run -c losses -s "$s"; done)"}},
      .option_tables = {WaitCommandOptions::table(), OutputOptions::table(), ReadingOptions::table(),
                        FollowingOptions::waiting_table(), MessageOptions::table()},
      .formats = row_format_names(),
      .exit_notes = {{ExitStatus::yes, "the conditions hold"},
                     {ExitStatus::no, "a step was skipped, or a tensor was not saved at it (StepUnavailable)"},
                     {ExitStatus::usage, "an option or a pattern is wrong"},
                     {ExitStatus::unreadable,
                      "a trial cannot be read, or was removed; nothing was saved; with --timeout 0, no such path"},
                     {ExitStatus::damaged, "something in a trial is damaged"},
                     {ExitStatus::no_more_data, "the job ended first (NoMoreData)"},
                     {ExitStatus::timed_out, "not yet, and the time is up"}},
      .see_also = {"smd-ls(1)", "smd-tensor(1)", "smd-trial(5)"},
      .columns = [] { return std::vector{column_table("", columns)}; },
  };
  return definition;
}

}  // namespace smd::tool::wait
