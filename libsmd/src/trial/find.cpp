// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoint_trials.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "layout/tensorboard/event_files.hpp"
#include "layout/tensorboard/runs.hpp"
#include "storage/s3_module.hpp"
#include "types/problem_list.hpp"

#include <smd/error.hpp>
#include <smd/limits.hpp>
#include <smd/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace smd {

namespace {

// Not Boost's: loading that library would cost each start of a command a fifth of the time of an empty program.
namespace fs = std::filesystem;

Problem trouble(const std::string& path, const std::error_code& error) {
  if (error == std::errc::no_such_file_or_directory) {
    return {ProblemKind::not_found, path, {}, "no such file or directory"};
  }
  if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted) {
    return {ProblemKind::access_denied, path, {}, "permission denied"};
  }
  if (error == std::errc::filename_too_long) {
    return {ProblemKind::not_found, path, {}, "the name is longer than the file system allows"};
  }
  if (error == std::errc::too_many_symbolic_link_levels) {
    return {ProblemKind::not_found, path, {}, "symbolic link that leads in a circle"};
  }
  return {ProblemKind::io, path, {}, error.message()};
}

/// As `trouble`, for a folder that was found below the place.
Problem trouble_below(const fs::path& folder, const std::error_code& error) {
  if (error == std::errc::filename_too_long) {
    return {ProblemKind::io,
            folder.string(),
            {},
            "lies too deep: its path is longer than the system allows; name a folder nearer"};
  }
  return trouble(folder.string(), error);
}

bool is_missing(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

/// Returns whether `inner` is `outer` or is in it. Precondition: both are without links.
bool lies_in(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

/// Returns the path of `inner` relative to `outer`, which contains it; empty if they are the same.
std::string path_within(const fs::path& outer, const fs::path& inner) {
  const auto [end, rest] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  fs::path within;
  for (auto part = rest; part != inner.end(); ++part) {
    within /= *part;
  }
  return within.string();
}

/// Finds the trials below one local place.
class Search {
 public:
  explicit Search(fs::path place) : place_(std::move(place)) {
    std::error_code error;
    real_place_ = fs::canonical(place_, error);
    todo_.push_back(place_);
  }

  /// @throws ReadError if the place itself cannot be read.
  void run() {
    while (!todo_.empty()) {
      const fs::path folder = std::move(todo_.back());
      todo_.pop_back();
      std::error_code error;
      enter(folder, error);
      if (error && folder == place_) {
        throw ReadError(trouble(folder.string(), error));
      }
      if (error) {
        problems_.add(trouble_below(folder, error));
      }
    }
    std::sort(linked_.begin(), linked_.end());
    std::set<fs::path> known;
    for (auto& [link, target] : linked_) {
      if (known.insert(target).second) {
        trials_.push_back(std::move(link));
      }
    }
    add_folders();
    std::sort(trials_.begin(), trials_.end());
  }

  [[nodiscard]] std::vector<std::string> take_trials() { return std::move(trials_); }
  [[nodiscard]] std::vector<Problem> problems() const {
    std::vector<Problem> problems = problems_.all(place_.string());
    std::stable_sort(problems.begin(), problems.end(),
                     [](const Problem& a, const Problem& b) { return a.file < b.file; });
    return problems;
  }

 private:
  /// Returns whether a folder is a debugger trial; sets `error` if that is unknown. A missing folder is not a trial.
  static bool is_trial(const fs::path& folder, std::error_code& error) {
    const bool there = fs::is_directory(folder / std::string(detail::layout::collections_folder), error);
    if (is_missing(error) || error == std::errc::too_many_symbolic_link_levels) {
      error.clear();
    }
    return there;
  }

  void enter(const fs::path& folder, std::error_code& error) {
    if (is_trial(folder, error)) {
      trials_.push_back(folder.string());
      return;  // trials do not nest
    }
    if (error) {
      return;
    }
    bool events = false;
    const std::string within = path_within(place_, folder);
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      std::error_code unknown;
      const std::string name = it->path().filename().string();
      events = events || (detail::layout::is_event_file(name) && it->is_regular_file(unknown));
      if (it->is_regular_file(unknown)) {
        checkpoints_.take(within, name);
      }
      const fs::file_type type = it->symlink_status(unknown).type();
      if (unknown && !is_missing(unknown)) {
        problems_.add(trouble_below(it->path(), unknown));
      } else if (type == fs::file_type::directory) {
        todo_.push_back(it->path());
      } else if (type == fs::file_type::symlink) {
        look_at_link(it->path());
      }
    }
    if (events) {
      runs_.push_back(within);
    }
    if (is_missing(error) && folder != place_) {
      error.clear();  // just removed
    }
  }

  /// Adds the runs below a link to a folder elsewhere. Returns false if there are none.
  bool take_linked_runs(const fs::path& link) {
    const auto storage = detail::storage::open_local_with_links(link.string());
    const auto files = storage ? detail::layout::find_event_files(**storage)
                               : detail::Outcome<detail::layout::EventFiles>(storage.problem());
    if (!files || files->paths.empty()) {
      return false;
    }
    std::set<std::string, std::less<>> runs;
    for (const std::string& path : files->paths) {
      runs.emplace(detail::layout::run_of(path));
    }
    for (const std::string& run : runs) {
      std::error_code error;
      const fs::path folder = run.empty() ? link : link / run;
      linked_runs_.emplace_back(path_within(place_, folder), fs::canonical(folder, error));
    }
    return true;
  }

  /// Adds the log directories to which the runs belong, and checkpoint folders.
  void add_folders() {
    std::sort(linked_runs_.begin(), linked_runs_.end());
    std::set<fs::path> known;
    for (auto& [run, target] : linked_runs_) {
      if (known.insert(target).second) {
        runs_.push_back(std::move(run));
      }
    }
    std::vector<std::string> others;
    std::transform(trials_.begin(), trials_.end(), std::back_inserter(others),
                   [&](const std::string& trial) { return path_within(place_, trial); });
    std::vector<std::string> more = detail::layout::trials_of_runs(runs_, others);
    std::vector<std::string> checkpoints = detail::layout::trials_of_checkpoints(checkpoints_, runs_);
    more.insert(more.end(), checkpoints.begin(), checkpoints.end());
    for (const std::string& trial : more) {
      trials_.push_back(trial.empty() ? place_.string() : (place_ / trial).string());
    }
  }

  void look_at_link(const fs::path& link) {
    std::error_code error;
    if (!fs::is_directory(link, error)) {
      if (error && !is_missing(error)) {
        problems_.add(not_followed(link, trouble({}, error).text));
      }
      return;
    }
    const fs::path target = fs::canonical(link, error);
    const bool inside = !error && lies_in(target, real_place_);
    std::error_code unknown;
    if (is_trial(link, unknown)) {
      if (!inside) {  // otherwise it is found at its target
        linked_.emplace_back(link.string(), target);
      }
    } else if (!inside && take_linked_runs(link)) {
      return;
    } else if (!inside) {
      problems_.add(not_followed(link, "symbolic link to a folder elsewhere, not searched"));
    } else if (lies_in(fs::canonical(link.parent_path(), error), target)) {
      problems_.add(not_followed(link, "symbolic link to a folder that it lies in, not followed"));
    }
  }

  static Problem not_followed(const fs::path& link, std::string why) {
    return {ProblemKind::warning, link.string(), {}, std::move(why)};
  }

  fs::path place_;
  fs::path real_place_;
  std::vector<fs::path> todo_;
  std::vector<std::string> trials_;
  std::vector<std::string> runs_;  ///< Folders with event files, relative to the place.
  detail::layout::FoundCheckpoints checkpoints_;
  std::vector<std::pair<std::string, fs::path>> linked_runs_;  ///< Such folders behind links, and their targets.
  std::vector<std::pair<std::string, fs::path>> linked_;       ///< Links to trials elsewhere, and their targets.
  detail::ProblemList problems_{limits::problems_per_trial};
};

/// `find_trials` on S3, where a folder is a common prefix of keys.
std::vector<std::string> find_remote(const std::string& place, std::vector<Problem>* problems,
                                     const TrialOptions& options) {
  auto opened = detail::storage::open_remote(place, options.remote, options.jobs);
  if (!opened) {
    Problem problem = std::move(opened.problem());
    problem.file = place;
    throw ReadError(std::move(problem));
  }
  std::string base = place;
  while (base.ends_with('/')) {
    base.pop_back();
  }
  std::vector<std::string> trials;
  std::vector<std::string> runs;
  detail::layout::FoundCheckpoints checkpoints;
  std::vector<std::string> todo{{}};
  while (!todo.empty()) {
    const std::string folder = std::move(todo.back());
    todo.pop_back();
    const std::string path = folder.empty() ? base : fmt::format("{}/{}", base, folder);
    bool is_trial = false;
    bool events = false;
    std::vector<std::string> below;
    const auto listed = (*opened)->list_parts(folder, [&](const std::vector<detail::storage::DirEntry>& entries) {
      for (const auto& entry : entries) {
        if (entry.kind == detail::storage::EntryKind::folder) {
          is_trial = is_trial || entry.name == "collections";
          below.push_back(folder.empty() ? entry.name : folder + "/" + entry.name);
        } else {
          events = events || detail::layout::is_event_file(entry.name);
          checkpoints.take(folder, entry.name);
        }
      }
    });
    if (!listed) {
      Problem problem = listed.problem();
      problem.file = path;
      if (folder.empty()) {
        throw ReadError(std::move(problem));
      }
      if (problems != nullptr) {
        problems->push_back(std::move(problem));
      }
    } else if (is_trial) {
      trials.push_back(folder);  // trials do not nest
    } else {
      if (events) {
        runs.push_back(folder);
      }
      todo.insert(todo.end(), std::make_move_iterator(below.begin()), std::make_move_iterator(below.end()));
    }
  }
  const std::vector<std::string> logs = detail::layout::trials_of_runs(runs, trials);
  trials.insert(trials.end(), logs.begin(), logs.end());
  const std::vector<std::string> models = detail::layout::trials_of_checkpoints(checkpoints, runs);
  trials.insert(trials.end(), models.begin(), models.end());
  for (std::string& trial : trials) {
    trial = trial.empty() ? base : fmt::format("{}/{}", base, trial);
  }
  std::sort(trials.begin(), trials.end());
  return trials;
}

}  // namespace

std::vector<std::string> find_trials(const std::string& place, std::vector<Problem>* problems,
                                     const TrialOptions& options) {
  if (is_remote_path(place)) {
    return find_remote(place, problems, options);
  }
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (status.type() == fs::file_type::not_found) {
    throw ReadError({ProblemKind::not_found, place, {}, "no such file or directory"});
  }
  if (error) {
    throw ReadError(trouble(place, error));
  }
  if (status.type() != fs::file_type::directory) {
    throw ReadError({ProblemKind::not_found, place, {}, "is not a directory"});
  }
  Search search{fs::path(place)};
  search.run();
  if (problems != nullptr) {
    *problems = search.problems();
  }
  return search.take_trials();
}

}  // namespace smd
