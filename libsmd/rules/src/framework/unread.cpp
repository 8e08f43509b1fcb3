// SPDX-License-Identifier: Apache-2.0
#include "framework/unread.hpp"

#include "framework/nothing_evaluated.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "text/escape.hpp"

#include <smd/trial.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace smd::detail::rules {

namespace {

/// Whether a problem with an index file or folder means that steps or records are unknown.
bool hides_records(ProblemKind kind) {
  return kind != ProblemKind::note && kind != ProblemKind::warning && kind != ProblemKind::not_yet &&
         kind != ProblemKind::stopped;
}

}  // namespace

void Unread::add_problem(const TrialView& view, const Problem& problem) {
  Problem placed = problem;
  if (view.number() > 0) {  // files are named relative to the base trial
    placed = {problem.kind, {}, {}, "in " + printable(view.trial().path()) + ": " + to_string(problem)};
  }
  if (texts_.insert(to_string(placed)).second) {
    problems_.push_back(std::move(placed));
  }
}

void Unread::add_record(const Slot& slot) {
  if (records_.insert({slot.view->number(), slot.row->file, slot.position}).second) {
    add_problem(*slot.view, *slot.problem);
  }
}

void Unread::add_record(const TrialView& view, const Problem& problem) {
  others_.insert(to_string(problem));
  add_problem(view, problem);
}

void Unread::add_index_files(const TrialView& view, const std::function<bool(std::int64_t)>& wanted) {
  const Snapshot& snapshot = view.snapshot();
  const auto add = [&](const Problem& problem) {
    index_files_.insert({view.number(), problem.file});
    add_problem(view, problem);
  };
  for (const Problem& problem : snapshot.listing->notes.kept()) {  // folders: any step may lie there
    if (hides_records(problem.kind)) {
      add(problem);
    }
  }
  for (const layout::LoadedSteps::Failure& failure : snapshot.failures) {
    if (hides_records(failure.problem.kind) && view.has_worker(failure.file.worker) && wanted(failure.file.step)) {
      add(failure.problem);
      if (snapshot.find(failure.file.step) == nullptr) {
        add_step(failure.file.step);
      }
    }
  }
  for (const Problem& problem : snapshot.notes.kept()) {  // entries refused in index files that were read
    const auto name = layout::parse_index_file_name(std::string_view(problem.file).substr(problem.file.rfind('/') + 1));
    if (hides_records(problem.kind) && (!name || wanted(name->step))) {
      add(problem);
    }
  }
}

void Unread::add_collections_files(const TrialView& view) {
  for (const Problem& problem : view.snapshot().collections->problems) {
    if (hides_records(problem.kind)) {
      collections_files_.insert({view.number(), problem.file});
      add_problem(view, problem);
    }
  }
}

std::string Unread::text(std::size_t steps_evaluated) const {
  const std::size_t steps = steps_evaluated + steps_.size();
  std::string what = records() == 0 ? std::string() : counted(records(), "record");
  for (const auto& [files, noun] :
       {std::pair(&index_files_, "index file"), std::pair(&collections_files_, "collections file")}) {
    if (!files->empty()) {
      what += (what.empty() ? "" : " and ") + counted(files->size(), noun);
    }
  }
  return fmt::format("{} of {} evaluated; {} could not be read: {}", steps_evaluated, counted(steps, "step"), what,
                     to_string(problems_.front()));
}

}  // namespace smd::detail::rules
