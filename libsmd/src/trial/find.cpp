// SPDX-License-Identifier: Apache-2.0
#include "layout/trial_paths.hpp"
#include "storage/s3_module.hpp"

#include <smd/error.hpp>
#include <smd/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace smd {

namespace {

// Not Boost's: to load it would cost every start of every command a fifth of what an empty program takes.
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
  return {ProblemKind::io, path, {}, error.message()};
}

bool is_trial(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / std::string(detail::layout::collections_folder), error);
}

/// Names of the folders in a folder; symbolic links are none.
std::vector<fs::path> subfolders(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->symlink_status(ignored).type() == fs::file_type::directory) {
      found.push_back(it->path());
    }
  }
  return found;
}

/// The same on S3, where a folder is what keys have in common.
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
  std::vector<std::string> todo{{}};
  while (!todo.empty()) {
    const std::string folder = std::move(todo.back());
    todo.pop_back();
    const std::string path = folder.empty() ? base : fmt::format("{}/{}", base, folder);
    const auto entries = (*opened)->list(folder);
    if (!entries) {
      Problem problem = entries.problem();
      problem.file = path;
      if (folder.empty()) {
        throw ReadError(std::move(problem));
      }
      if (problems != nullptr) {
        problems->push_back(std::move(problem));
      }
      continue;
    }
    const auto is_folder = [](const auto& entry) { return entry.kind == detail::storage::EntryKind::folder; };
    if (std::any_of(entries->begin(), entries->end(),
                    [&](const auto& entry) { return is_folder(entry) && entry.name == "collections"; })) {
      trials.push_back(path);
      continue;  // trials do not nest
    }
    for (const auto& entry : *entries) {
      if (is_folder(entry)) {
        todo.push_back(folder.empty() ? entry.name : folder + "/" + entry.name);
      }
    }
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
  std::vector<std::string> trials;
  std::vector<fs::path> todo{fs::path(place)};
  while (!todo.empty()) {
    const fs::path folder = std::move(todo.back());
    todo.pop_back();
    if (is_trial(folder)) {
      trials.push_back(folder.string());
      continue;  // trials do not nest
    }
    error.clear();
    for (fs::path& below : subfolders(folder, error)) {
      todo.push_back(std::move(below));
    }
    if (error) {
      Problem problem = trouble(folder.string(), error);
      if (folder == fs::path(place)) {
        throw ReadError(std::move(problem));
      }
      if (problems != nullptr) {
        problems->push_back(std::move(problem));
      }
    }
  }
  std::sort(trials.begin(), trials.end());
  return trials;
}

}  // namespace smd
