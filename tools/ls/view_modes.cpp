// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "select/selection.hpp"
#include "selected.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

std::vector<Column> mode_columns(const LsOptions&) {
  return {{"mode"}, {"steps", Align::right}, {"first_step", Align::right}, {"last_step", Align::right}};
}

/// Whether one of the workers that the row counts claims the mode.
bool claims(const Trial& trial, const StepInfo& info, Mode mode) {
  bool any = false;
  if (trial.mode_step(info.step, mode)) {
    trial.for_each_entry({.steps = {{info.step}}, .mode = mode, .workers = info.workers, .include_incomplete = true},
                         [&](const TensorEntry&) {
                           any = true;
                           return false;
                         });
  }
  return any;
}

bool show_modes(Trial& trial, Showing& to) {
  const Selection selection = select(trial, to.options.selection, {.lists = false}, to.messages);
  if (selection.empty()) {
    return false;
  }
  struct Count {
    std::size_t steps = 0;
    GlobalStep first;
    GlobalStep last;
  };
  std::map<Mode, Count> modes;  // by number
  const std::vector<Mode> claimed = trial.modes();
  for (const StepInfo& info : saved_steps(trial, selection, to.options.selection)) {
    const auto add = [&](Mode mode) {
      Count& count = modes[mode];
      count.first = count.steps == 0 ? info.step : count.first;
      count.last = info.step;
      ++count.steps;
    };
    add(info.mode);
    for (const Mode mode : claimed) {  // claimed by a worker other than the first
      if (mode != info.mode && selection.every_claim && claims(trial, info, mode)) {
        add(mode);
      }
    }
  }
  for (const auto& [mode, count] : modes) {
    to.rows.row({to_string(mode), count.steps, count.first.value, count.last.value});
  }
  return !modes.empty();
}

}  // namespace

constinit const ViewSpec modes_view = {.option = "modes", .columns = mode_columns, .show = show_modes};

}  // namespace smd::tool::ls
