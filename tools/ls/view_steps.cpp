// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "follow/following.hpp"
#include "operands/operands.hpp"
#include "rows/date.hpp"
#include "select/selection.hpp"
#include "select/trial_times.hpp"
#include "selected.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

std::vector<Column> step_columns(const LsOptions& options) {
  return {{"step", Align::right},
          {"mode"},
          {"mode_step", Align::right},
          {"tensors", Align::right},
          {"workers", Align::left, true, true, false, show_abridged},
          {"complete"},
          {"bytes", Align::right},
          {"wall_time", Align::right, options.details, options.details, false, show_date},
          written_column};
}

/// `selection`: with these steps.
void print(const Trial& trial, const std::vector<StepInfo>& infos, const Selection& selection, Showing& to) {
  std::vector<std::optional<StepTime>> times(infos.size());
  if (to.rows.wants("wall_time") && !infos.empty()) {
    std::vector<GlobalStep> steps;
    steps.reserve(infos.size());
    for (const StepInfo& info : infos) {
      steps.push_back(info.step);
    }
    times = step_times(trial, steps, query_for(selection, to.options.selection), to.messages);
  }
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const StepInfo& info = infos[i];
    to.rows.row({info.step.value, to_string(info.mode), info.mode_step.value, info.tensors, ListCell{info.workers},
                 info.complete, info.bytes, times[i] ? Cell(times[i]->earliest) : Cell(),
                 PlaceCell{info.step.value, 0}});
  }
}

bool show_steps(Trial& trial, Showing& to) {
  const Selection selection = select(trial, to.options.selection, {.lists = false}, to.messages);
  if (selection.empty()) {
    return false;
  }
  std::vector<StepInfo> steps = saved_steps(trial, selection, to.options.selection);
  const bool found = !steps.empty();
  if (!to.options.output.quiet) {
    steps.resize(std::min(steps.size(), to.rows.room().value_or(steps.size())));
    print(trial, steps, selection, to);
  }
  return found;
}

}  // namespace

bool follow_steps(const std::vector<std::string>& operands, Showing& to) {
  const LsOptions& options = to.options;
  const FollowSetup setup{.following = options.following,
                          .selection = options.selection,
                          .reading = options.reading,
                          .needs = {.lists = false},
                          .records = to.rows.wants("wall_time"),
                          .listed = lists_operands(options.operands)};
  return follow_trials(operands, setup, to.messages, [&](std::size_t operand, Trial& trial, Selection&& selection) {
    std::vector<StepInfo> infos;  // of the one step, if something selected was saved at it
    if (!selection.empty()) {
      infos = {*trial.step_info(selection.steps.steps.front().step)};
      narrow(infos, trial, selection, options.selection);
    }
    to.rows.set_trial(operands[operand]);
    print(trial, infos, selection, to);
    to.rows.end_step();
  });
}

constinit const ViewSpec steps_view = {.option = "steps", .details = true, .columns = step_columns, .show = show_steps};

}  // namespace smd::tool::ls
