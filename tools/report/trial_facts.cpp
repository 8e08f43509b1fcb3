// SPDX-License-Identifier: Apache-2.0
#include <smd/snapshot.hpp>

#include "select/trial_times.hpp"
#include "trial_report.hpp"

#include <algorithm>
#include <set>

namespace smd::tool::report {

namespace {

void add_steps(TrialFacts& facts, const Trial& trial) {
  const std::vector<Mode> claimed = trial.modes();  // by any worker; a step's own is that of its first
  std::set<Mode> modes(claimed.begin(), claimed.end());
  std::map<std::string, WorkerFacts> workers;
  for (const StepInfo& info : trial.step_infos()) {
    ++facts.steps;
    facts.bytes += info.bytes;
    modes.insert(info.mode);
    facts.first_step = facts.first_step.value_or(info.step);
    facts.last_step = info.step;
    for (const std::string& name : info.workers) {
      WorkerFacts& worker = workers[name];
      ++worker.steps;
      worker.last_step = info.step;
    }
  }
  for (const Mode mode : modes) {
    facts.modes.emplace_back(to_string(mode));
  }
  for (auto& [name, worker] : workers) {
    worker.name = name;
    facts.workers.push_back(worker);
  }
}

}  // namespace

TrialFacts facts_of(const Trial& trial) {
  TrialFacts facts = {.layout = std::string(trial.layout().name),
                      .status = std::string(job_status(trial)),
                      .has_modes = trial.layout().has_modes,
                      .tensors = trial.tensor_names().size(),
                      .last_complete = trial.last_complete_step(),
                      .exit_code = trial.exit_code(),
                      .hyperparameters = trial.hyperparameters().values};
  add_steps(facts, trial);
  for (const auto& [name, collection] : trial.collections()) {
    facts.collections.push_back(name);
  }
  for (const auto& [tensor, count] : trial.superseded()) {
    facts.superseded += count;
  }
  for (const OtherValue& other : trial.other_values()) {
    if (other.kind == "alert") {
      facts.alerts.push_back(other.name);
    }
  }
  for (const Problem& problem : trial.problems()) {
    if (problem.kind != ProblemKind::note && problem.kind != ProblemKind::remark &&
        problem.kind != ProblemKind::other_trial && problem.kind != ProblemKind::not_yet) {
      facts.problems.push_back(to_string(problem));
    }
  }
  return facts;
}

}  // namespace smd::tool::report
