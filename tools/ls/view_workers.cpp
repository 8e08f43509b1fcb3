// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "cli/text.hpp"
#include "selected.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

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
  std::vector<std::string> others;
  for (const auto& [worker, work] : workers) {
    if (!std::ranges::binary_search(announced, worker)) {
      others.push_back(worker);
    }
  }
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

constinit const ViewSpec workers_view = {.option = "workers", .columns = worker_columns, .show = show_workers};

}  // namespace smd::tool::ls
