// SPDX-License-Identifier: Apache-2.0
#include "framework/unread.hpp"

#include "framework/nothing_evaluated.hpp"
#include "text/escape.hpp"

#include <smd/trial.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace smd::detail::rules {

namespace {

/// Returns whether a problem with an index file or folder means that steps or records are unknown.
bool hides_records(ProblemKind kind) {
  return kind != ProblemKind::note && kind != ProblemKind::warning && kind != ProblemKind::not_yet &&
         kind != ProblemKind::stopped && kind != ProblemKind::remark;
}

}  // namespace

void Unread::add_problem(const EvaluatedTrial& trial, const Problem& problem) {
  Problem placed = problem;
  if (trial.number() > 0) {  // problems name files relative to the base trial
    placed = {problem.kind, {}, {}, "in " + printable(trial.trial().path()) + ": " + to_string(problem)};
  }
  if (texts_.insert(to_string(placed)).second) {
    problems_.push_back(std::move(placed));
  }
}

void Unread::add_record(const Slot& slot) {
  if (records_.insert({slot.trial->number(), slot.row.id(), slot.position}).second) {
    add_problem(*slot.trial, *slot.problem);
  }
}

void Unread::add_record(const EvaluatedTrial& trial, const Problem& problem) {
  others_.insert(to_string(problem));
  add_problem(trial, problem);
}

void Unread::add_index_files(const EvaluatedTrial& trial, const std::function<bool(GlobalStep)>& wanted) {
  for (const IndexProblem& found : trial.snapshot().index_problems()) {
    const bool of_others = (found.worker && !trial.has_worker(*found.worker)) || (found.step && !wanted(*found.step));
    if (of_others || !hides_records(found.problem.kind)) {
      continue;
    }
    (trial.trial().layout().marks_steps ? index_files_ : other_files_).insert({trial.number(), found.problem.file});
    add_problem(trial, found.problem);
    if (found.worker && found.step && !trial.snapshot().find_step(*found.step)) {
      add_step(*found.step);
    }
  }
}

void Unread::add_collections_files(const EvaluatedTrial& trial) {
  for (const Problem& problem : trial.snapshot().collection_problems()) {
    if (hides_records(problem.kind)) {
      collections_files_.insert({trial.number(), problem.file});
      add_problem(trial, problem);
    }
  }
}

std::string Unread::text(std::size_t steps_evaluated) const {
  const std::size_t steps = steps_evaluated + steps_.size();
  std::string what = records() == 0 ? std::string() : counted(records(), "record");
  for (const auto& [files, noun] : {std::pair(&index_files_, "index file"), std::pair(&other_files_, "file"),
                                    std::pair(&collections_files_, "collections file")}) {
    if (!files->empty()) {
      what += (what.empty() ? "" : " and ") + counted(files->size(), noun);
    }
  }
  return fmt::format("{} of {} evaluated; {} could not be read: {}", steps_evaluated, counted(steps, "step"), what,
                     to_string(problems_.front()));
}

}  // namespace smd::detail::rules
