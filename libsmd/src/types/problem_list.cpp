// SPDX-License-Identifier: Apache-2.0
#include "types/problem_list.hpp"

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
      problems.push_back({static_cast<ProblemKind>(kind),
                          file,
                          {},
                          std::to_string(more) + (more == 1 ? " more problem" : " more problems") + " of this kind"});
    }
  }
  return problems;
}

}  // namespace smd::detail
