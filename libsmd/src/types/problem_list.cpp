// SPDX-License-Identifier: Apache-2.0
#include "types/problem_list.hpp"

#include "text/words.hpp"
#include "types/outcome.hpp"

#include <utility>

namespace smd::detail {

void ProblemList::add(Problem problem) {
  if (full(problem.kind)) {
    count(problem.kind);
    return;
  }
  kept_.push_back(std::move(problem));
  ++kept_of_kind_[index(kept_.back().kind)];
}

void ProblemList::add(ProblemList&& more) {
  for (Problem& problem : more.kept_) {
    add(std::move(problem));
  }
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    left_out_[kind] += more.left_out_[kind];
  }
  more = ProblemList(more.most_);
}

void ProblemList::set_file(const std::string& file) {
  for (Problem& problem : kept_) {
    problem.file = file;
  }
}

std::vector<Problem> ProblemList::all(const std::string& file) const {
  std::vector<Problem> problems = kept_;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    if (const std::uint64_t more = left_out_[kind]; more > 0) {
      problems.push_back(
          make_problem(static_cast<ProblemKind>(kind), text::counted(more, "more problem") + " of this kind", file));
    }
  }
  return problems;
}

}  // namespace smd::detail
