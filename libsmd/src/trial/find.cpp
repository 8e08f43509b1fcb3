// SPDX-License-Identifier: Apache-2.0
#include "layout/kinds/kinds.hpp"
#include "storage/s3_module.hpp"
#include "trial/opened_trial.hpp"
#include "trial/trial_path.hpp"

#include <smd/error.hpp>
#include <smd/find.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smd {

std::optional<FoundTrial> find_trial(const std::string& path, const TrialOptions& options) {
  try {
    const detail::trial::OpenedTrial trial = detail::trial::open_trial(path, options, {});
    return FoundTrial{trial.storage->root(), trial.traits};
  } catch (const MissingCollectionFiles& error) {
    if (error.ended) {
      throw;
    }
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::not_found) {
      throw;
    }
  }
  return std::nullopt;
}

bool is_trial(const std::string& path, const TrialOptions& options) {
  try {
    return detail::trial::is_trial(path, options);
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::not_found) {
      throw;
    }
    return false;
  }
}

std::optional<std::string> trial_with_file(const std::string& file) {
  const auto operand = is_remote_path(file) ? std::nullopt : detail::trial::file_operand(file);
  return operand ? detail::trial::trial_with_file(detail::trial::TrialPath(file), *operand) : std::nullopt;
}

std::vector<std::string> find_trials(const std::string& path, std::vector<Problem>* problems,
                                     const TrialOptions& options) {
  detail::trial::require_layout(options.layout);
  const detail::trial::TrialPath where(path);
  const auto in_place = [&](Problem problem) {
    problem.file = where.path_of(problem.file);
    return problem;
  };
  const auto storage = is_remote_path(path) ? detail::storage::open_remote(where.path(), options.remote, options.jobs)
                                            : detail::storage::open_local_with_links(where.path());
  if (!storage) {
    throw ReadError(in_place(storage.problem()));
  }
  detail::layout::FolderWalk walk(**storage, where.name(), {.stop = options.remote.stop});
  if (!walk.next()) {
    throw ReadError(in_place(walk.failure().value_or(Problem())));
  }
  std::vector<std::string> trials = detail::layout::find_trials(walk, options.layout);
  if (walk.failure()) {
    throw ReadError(in_place(*walk.failure()));
  }
  for (std::string& trial : trials) {
    trial = where.path_of(trial);
  }
  if (problems != nullptr) {
    *problems = walk.notes().all();
    std::for_each(problems->begin(), problems->end(),
                  [&](Problem& problem) { problem = in_place(std::move(problem)); });
    std::stable_sort(problems->begin(), problems->end(),
                     [](const Problem& a, const Problem& b) { return a.file < b.file; });
  }
  return trials;
}

}  // namespace smd
