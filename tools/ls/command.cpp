// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <smd/error.hpp>
#include <smd/find.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "select/explanations.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

std::string lines_of(std::string heading, std::span<const Example> commands) {
  constexpr std::size_t shown = 3;
  for (const Example& next : commands.first(std::min(shown, commands.size()))) {
    heading += fmt::format("  {:<38} {}\n", next.command, next.purpose);
  }
  return heading;
}

/// The commands for a folder that holds several trials.
std::string next_commands_for_runs() {
  constexpr std::array<Example, 3> commands = {{{"all of them, a row each", "smd-runs"},
                                                {"their paths", "smd-ls --find"},
                                                {"do any of them overfit?", "smd-ls --find | smd-rule - -r Overfit"}}};
  return lines_of("\nTry\n", commands);
}

bool holds_trials(const std::string& place) {
  try {
    return !find_trials(place).empty();
  } catch (const Error&) {  // which the reading reported
    return false;
  }
}

/// One of several trials that are shown side by side.
struct ShownTrial {
  ShownTrial(const LsOptions& options, RowWriter& all, const Visit& visit, Diagnostics& messages)
      : rows(all, visit.turn), to{options, rows, messages} {
    rows.set_trial(visit.operand);
    with_trial(
        visit.operand, options.reading.trial_options(options.view->range(options), visit.jobs), messages,
        [&](Trial& trial) {
          found = options.view->show(trial, to);
          if (!found && options.view->selects && messages.status() == ExitStatus::yes && !options.output.quiet) {
            empty = why_nothing(trial, options.selection);
          }
        },
        hint_for(visit.operand, options.operands));
  }

  RowWriter rows;
  Showing to;
  bool found = false;
  std::optional<NothingSelected> empty;
};

}  // namespace

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-ls",
      .synopsis = "[OPTION]... [TRIAL]...",
      .summary = "List what a training job saved: tensors, steps, modes, workers, collections.",
      .brief = "list what a training job saved",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = false, .repeats = true, .here = true}},
      .examples = {{"which tensors were saved?", "smd-ls run"},
                   {"shape, dtype, steps and size of the gradients", "smd-ls -l -c gradients run"},
                   {"was a loss saved? (the exit status tells)", "smd-ls -q run -c losses"},
                   {"the layers of a model, with parameters and bytes", "smd-ls --tree --depth 2 checkpoints"},
                   {"is a checkpoint whole, with all its shards?", "smd-ls --check checkpoints"}},
      .option_tables = {LsOptions::table(), SelectionOptions::name_table(), SelectionOptions::table(),
                        ReadingOptions::superseded_table(), OutputOptions::table(), ReadingOptions::table(),
                        FollowingOptions::table(), MessageOptions::table()},
      .formats = row_format_names(),
      .exit_notes = {{ExitStatus::yes, "something was listed; with --check, nothing was found"},
                     {ExitStatus::no,
                      "nothing was selected, or a tensor, step, mode, worker or collection named does not exist"},
                     {ExitStatus::usage, "an option or a pattern is wrong"},
                     {ExitStatus::unreadable, "a trial cannot be read, or the results cannot be written"},
                     {ExitStatus::damaged,
                      "something in a trial is damaged, or --check found something; the rest was listed"},
                     {ExitStatus::timed_out, "--timeout or --idle ended --follow"}},
      .see_also = {"smd-tensor(1)", "smd-trial(5)"},
      .columns = column_tables,
  };
  return definition;
}

std::string next_commands(const Trial& trial) {
  const bool has_losses = !trial.tensor_names({.collections = {"losses"}}).empty();
  std::vector<Example> commands;
  if (has_losses) {
    commands.push_back({"the losses as curves", "smd-tensor -c losses -s all --spark"});
  }
  if (trial.layout().name == "checkpoints") {
    commands.push_back({"the layers, with parameters and bytes", "smd-ls --tree --depth 2"});
    commands.push_back({"is it whole?", "smd-ls --check"});
  }
  if (!has_losses) {
    commands.push_back({"NaN, infinities and size of each tensor", "smd-reduce -s last -r nan,inf,l2"});
  }
  commands.push_back({"one page to look at", "smd-report -o report.html"});
  commands.push_back({"is training healthy?", "smd-rule . -r Overfit,ExplodingTensor"});
  return lines_of(
      fmt::format("\nThis is a trial ({}): {}, {}. Try\n", trial.layout().name,
                  counted(trial.tensor_names().size(), "tensor"), counted(trial.steps(true).size(), "step")),
      commands);
}

ExitStatus run(const LsOptions& options, Diagnostics& messages) {
  const OutputOptions& output = options.output;
  const std::vector<Column> columns = options.view->columns(options);
  OutputFile out = output.open();
  RowWriter rows(out, output, columns, may_be_several(options.operands), messages);
  Showing showing = {options, rows, messages};
  if (options.following.follow) {
    const bool visited = follow_steps(all_operands(options.operands, output.null_separated, messages), showing);
    rows.finish();
    out.close(messages);
    if (visited && rows.rows() == 0) {
      say_nothing_selected(nullptr, options.selection, messages);
    }
    return ExitStatus::yes;
  }
  bool found = false;
  std::vector<std::pair<std::string, NothingSelected>> empty;
  // With -q, the most severe status that can still come ends the work.
  const auto goes_on = [&] { return !(output.quiet && messages.status() == ExitStatus::unreadable); };
  messages.name_trials(may_be_several(options.operands));
  if (options.view->show_operand != nullptr) {
    OperandSource source = operand_source(options.operands, output.null_separated, messages);
    for (auto operand = source.next(); operand; operand = goes_on() ? source.next() : std::nullopt) {
      found = options.view->show_operand(*operand, showing) || found;
    }
  } else {
    OperandSource source(options.operands, output.null_separated);
    const VisitPlan plan = {.doing = "listing trials", .jobs = options.reading.jobs};
    const auto visit_one = [&](const Visit& one) -> Show {
      const auto shown = std::make_shared<ShownTrial>(options, rows, one, messages);
      return [&, shown, operand = one.operand] {
        shown->rows.show();
        found = found || shown->found;
        showing.next += shown->to.next;
        if (shown->empty) {
          empty.emplace_back(operand, *std::move(shown->empty));
        }
        return goes_on();
      };
    };
    if (visit_in_turn(source, plan, messages, visit_one) == 0) {
      say_nothing_listed(messages);
    }
  }
  rows.finish();
  out.close(messages);
  if (options.says_next()) {
    std::fputs((found || !holds_trials(".") ? showing.next : next_commands_for_runs()).c_str(), stderr);
  }
  if (!found && options.view->selects && messages.status() == ExitStatus::yes) {
    for (const auto& [operand, why] : empty) {
      const AboutTrial about(operand);
      messages.nothing(why.tag, "nothing is selected: " + why.text);
    }
  }
  return found ? ExitStatus::yes : ExitStatus::no;
}

}  // namespace smd::tool::ls
