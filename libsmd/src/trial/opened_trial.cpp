// SPDX-License-Identifier: Apache-2.0
#include "trial/opened_trial.hpp"

#include "layout/checkpoints/checkpoint_names.hpp"
#include "layout/checkpoints/checkpoints_layout.hpp"
#include "layout/debugger/debugger_layout.hpp"
#include "layout/tensorboard/tensorboard_layout.hpp"
#include "storage/s3_module.hpp"
#include "text/escape.hpp"
#include "trial/recognise.hpp"

#include <smd/error.hpp>

#include <filesystem>
#include <optional>
#include <string_view>
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

/// Returns a local path that ends with a name and has a parent folder; empty if there is no such path.
std::filesystem::path named(const std::string& path) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::path(path).lexically_normal();
  if (!folder.has_filename()) {
    folder = folder.parent_path();  // `run/`
  }
  if (folder.filename() == "." || folder.filename() == ".." || !folder.has_parent_path()) {
    folder = std::filesystem::canonical(folder, error);
  }
  return error || !folder.has_relative_path() ? std::filesystem::path() : folder;
}

/// Returns the parent of a local path if `is_part` finds that it is a trial and the path a part of it; else empty.
std::string trial_around(const std::string& path, bool (*is_part)(storage::Storage& parent, std::string_view name)) {
  if (is_remote_path(path)) {
    return {};  // seldom useful enough for a request
  }
  const std::filesystem::path folder = named(path);
  if (folder.empty()) {
    return {};
  }
  const auto parent = storage::open_local_with_links(folder.parent_path().string());
  return parent && is_part(**parent, folder.filename().string()) ? folder.parent_path().string() : std::string();
}

void note_trial_around(OpenedTrial& trial, const std::string& path,
                       bool (*is_part)(storage::Storage& parent, std::string_view name)) {
  if (const std::string around = trial_around(path, is_part); !around.empty()) {
    trial.notes.push_back(
        {ProblemKind::note, {}, {}, "'" + printable(path) + "' is a folder of the trial '" + printable(around) + "'"});
  }
}

/// The folder and name of a safetensors file.
struct FileOperand {
  std::string folder;
  std::string file;
};

/// Splits the path of a safetensors file. Nullopt if the path has another ending, is a folder, or does not exist.
std::optional<FileOperand> file_operand(const std::string& path) {
  if (!layout::is_safetensors(path)) {
    return std::nullopt;
  }
  const std::size_t slash = path.rfind('/');
  FileOperand operand{slash == path.npos ? "." : path.substr(0, slash + 1), path.substr(slash + 1)};
  if (is_remote_path(path)) {
    return operand;
  }
  std::error_code error;
  const auto type = std::filesystem::symlink_status(path, error).type();
  if (error || type == std::filesystem::file_type::not_found || std::filesystem::is_directory(path, error)) {
    return std::nullopt;
  }
  return operand;
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
  if (const auto operand = environment.layout ? std::nullopt : file_operand(path)) {
    trial.storage = environment.open || is_remote_path(path)
                        ? open(operand->folder)
                        : or_throw(storage::open_local_with_links(operand->folder), operand->folder);
    if (trial.storage->exists(operand->file) || !trial.storage->remote()) {
      trial.layout = layout::checkpoints_layout({}, operand->file);
      return trial;
    }
  }
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
      note_trial_around(trial, path, is_part_of_trial);
      return trial;
    case Recognised::Kind::checkpoints:
      trial.layout =
          layout::checkpoints_layout(is_remote_path(path) ? last_part(path) : named(path).filename().string());
      if (links) {
        trial.storage = std::move(links);
      }
      note_trial_around(trial, path, is_checkpoint_of_trial);
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
