// SPDX-License-Identifier: Apache-2.0
// Views of steps: one by one, and counted by mode and by worker.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "follow/following.hpp"
#include "operands/operands.hpp"
#include "rows/cell.hpp"
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
    const std::vector<GlobalStep> steps = mapped(infos, &StepInfo::step);
    times = step_times(trial, steps, query_for(selection, to.options.selection), to.messages);
  }
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const StepInfo& info = infos[i];
    to.rows.row({info.step.value, to_string(info.mode), info.mode_step.value, info.tensors, ListCell{info.workers},
                 info.complete, info.bytes, times[i] ? or_missing(times[i]->earliest) : Cell(),
                 PlaceCell{info.step.value, 0}});
  }
}

bool show_steps(Trial& trial, const Selection& selection, Showing& to) {
  const std::vector<StepInfo> steps = saved_steps(trial, selection, to.options.selection);
  if (!to.options.output.quiet) {
    print(trial, steps, selection, to);
  }
  return !steps.empty();
}

std::vector<Column> mode_columns(const LsOptions&) {
  return {{"mode"}, {"steps", Align::right}, {"first_step", Align::right}, {"last_step", Align::right}};
}

/// Whether one of the workers that the row counts claims the mode.
bool claims(const Trial& trial, const StepInfo& info, Mode mode) {
  return trial.mode_step(info.step, mode) &&
         any_entry(trial, {.steps = {{info.step}}, .mode = mode, .workers = info.workers, .include_incomplete = true});
}

bool show_modes(Trial& trial, const Selection& selection, Showing& to) {
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

std::vector<Column> worker_columns(const LsOptions&) {
  return {{"worker"}, {"steps", Align::right}, {"tensors", Align::right}};
}

struct Work {
  std::size_t steps = 0;
  std::size_t tensors = 0;
};
using WorkByName = std::map<std::string, Work, std::less<>>;

void count_tensors(const Trial& trial, const Selection& selection, const SelectionOptions& options,
                   WorkByName& workers) {
  if (selection.every_step && selection.every_worker) {
    for (const TensorSummary& summary : trial.summaries(selection.tensors)) {
      for (const std::string& worker : summary.workers) {
        ++workers[worker].tensors;
      }
    }
    return;
  }
  std::map<std::string_view, std::set<std::string_view>> tensors;  // names are borrowed from the trial
  trial.for_each_entry(query_for(selection, options), [&](const TensorEntry& entry) {
    tensors[entry.worker].insert(entry.tensor);
    return true;
  });
  for (const auto& [worker, names] : tensors) {
    workers[std::string(worker)].tensors = names.size();
  }
}

/// The reference does not count workers without a collections file, although it counts their tensors. A layout without
/// such files announces no worker.
void note_unannounced(const Trial& trial, const WorkByName& workers, Diagnostics& messages) {
  const std::vector<std::string> announced = trial.workers();
  if (announced.empty()) {
    return;
  }
  std::vector<std::string> others = keys_of(workers);
  std::erase_if(others, [&](const std::string& worker) { return std::ranges::binary_search(announced, worker); });
  if (!others.empty()) {
    messages.note(trial.name() + ": no collections file of " + quoted_list(others) + ": known from index files only");
  }
}

bool show_workers(Trial& trial, Showing& to) {
  WorkByName workers;
  const Selection selection = select(trial, to.options.selection, {.lists = false}, to.messages);
  if (selection.empty() || selection.everything()) {
    // Include those that have only announced themselves.
    for (std::string& worker : trial.workers()) {
      workers[std::move(worker)];
    }
  }
  if (!selection.empty()) {
    for (const StepInfo& info : saved_steps(trial, selection, to.options.selection)) {
      for (const std::string& worker : info.workers) {
        ++workers[worker].steps;
      }
    }
    count_tensors(trial, selection, to.options.selection, workers);
  } else if (!trial.listed_steps().empty()) {
    return false;  // there are steps, but none of those asked for
  }
  for (const auto& [worker, work] : workers) {
    to.rows.row({worker, work.steps, work.tensors});
  }
  note_unannounced(trial, workers, to.messages);
  return !workers.empty();
}

}  // namespace

bool follow_steps(const std::vector<std::string>& operands, Showing& to) {
  const LsOptions& options = to.options;
  const FollowSetup setup{.following = options.following,
                          .selection = options.selection,
                          .reading = options.reading,
                          .needs = {.lists = false},
                          .records = to.rows.wants("wall_time"),
                          .whole_steps = true,
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

constinit const ViewSpec steps_view = {
    .option = "steps", .details = true, .columns = step_columns, .show_selected = show_steps};

constinit const ViewSpec modes_view = {.option = "modes", .columns = mode_columns, .show_selected = show_modes};
constinit const ViewSpec workers_view = {.option = "workers", .columns = worker_columns, .show_trial = show_workers};

}  // namespace smd::tool::ls
