// SPDX-License-Identifier: Apache-2.0
#include "trial/opened_trial.hpp"

#include "layout/debugger/debugger_layout.hpp"
#include "layout/tensorboard/tensorboard_layout.hpp"
#include "storage/s3_module.hpp"
#include "text/escape.hpp"
#include "trial/recognise.hpp"

#include <smd/error.hpp>

#include <filesystem>
#include <system_error>
#include <utility>

namespace smd::detail::trial {

std::string last_part(std::string_view path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string_view::npos) {
    return std::string(path);
  }
  const std::string_view whole = path.substr(0, end + 1);
  return std::string(whole.substr(whole.rfind('/') + 1));
}

namespace {

/// The folder around a local path if that is a trial of which the path is a part; else empty.
std::string trial_around(const std::string& path) {
  if (is_remote_path(path)) {
    return {};  // a request for what is hardly ever worth knowing
  }
  std::error_code error;
  std::filesystem::path folder = std::filesystem::path(path).lexically_normal();
  if (!folder.has_filename()) {
    folder = folder.parent_path();  // `run/`
  }
  if (folder.filename() == "." || folder.filename() == ".." || !folder.has_parent_path()) {
    folder = std::filesystem::canonical(folder, error);
  }
  if (error || !folder.has_relative_path()) {
    return {};
  }
  const auto parent = storage::open_local_with_links(folder.parent_path().string());
  return parent && is_part_of_trial(**parent, folder.filename().string()) ? folder.parent_path().string()
                                                                          : std::string();
}

std::unique_ptr<storage::Storage> or_throw(Outcome<std::unique_ptr<storage::Storage>> opened, const std::string& path) {
  if (!opened) {
    Problem problem = std::move(opened.problem());
    problem.file = path;
    throw ReadError(std::move(problem));
  }
  return *std::move(opened);
}

}  // namespace

OpenedTrial open_trial(const std::string& path, const TrialOptions& options, const Environment& environment) {
  if (path.empty()) {
    throw InvalidArgument("the path of a trial is empty");
  }
  const auto open = [&](const std::string& place) {
    auto opened = environment.open        ? environment.open(place)
                  : is_remote_path(place) ? storage::open_remote(place, options.remote, options.jobs)
                                          : storage::open_local(place);
    return or_throw(std::move(opened), place);
  };
  OpenedTrial trial;
  trial.storage = open(path);
  if (environment.layout) {
    trial.layout = environment.layout();
    return trial;
  }
  std::unique_ptr<storage::Storage> links;
  const Recognised found = recognise(*trial.storage, [&]() -> storage::Storage& {
    if (environment.open || trial.storage->remote()) {
      return *trial.storage;
    }
    if (!links) {
      links = or_throw(storage::open_local_with_links(path), path);
    }
    return *links;
  });
  switch (found.kind) {
    case Recognised::Kind::several_runs:
      throw MissingCollectionFiles(say_several(path, found.runs), path, true);
    case Recognised::Kind::tensorboard:
      trial.layout = layout::tensorboard_layout();
      if (links) {
        trial.storage = std::move(links);
      }
      if (const std::string around = trial_around(path); !around.empty()) {
        trial.notes.push_back({ProblemKind::note,
                               {},
                               {},
                               "'" + printable(path) + "' is a folder of the trial '" + printable(around) + "'"});
      }
      return trial;
    case Recognised::Kind::inner:
      trial.storage = open(path + (path.ends_with('/') ? "" : "/") + std::string(layout::inner_folder));
      trial.notes.push_back({ProblemKind::warning,
                             {},
                             {},
                             "'" + printable(path) + "' is no trial itself; its folder debug-output is read"});
      break;
    case Recognised::Kind::debugger:
    case Recognised::Kind::nothing:
      break;
  }
  trial.layout = layout::debugger_layout();
  return trial;
}

std::unique_ptr<storage::Storage> open_to_watch(const std::string& path) {
  auto outer = storage::open_local(path);
  if (!outer) {
    return nullptr;
  }
  if (auto inner = storage::open_local(path + "/" + std::string(layout::inner_folder));
      inner && !layout::holds_index_files(**outer)) {
    return *std::move(inner);
  }
  return *std::move(outer);
}

storage::WatchScope watched_before_birth() { return layout::debugger_layout()->watched(); }

}  // namespace smd::detail::trial
