// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/folder_walk.hpp"
#include "layout/layout.hpp"
#include "text/mapped.hpp"

#include <smd/find.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smd::detail::layout {

/// What a folder holds of one layout: it is a trial, or a part of one above it.
struct Held {
  /// The data lie in the folder itself. Such a layout comes before those whose data lie in the folders below.
  bool itself = true;
  std::string example = {};      ///< A file that shows it, for messages; may be empty.
  bool reads_all_below = false;  ///< The trial in this folder reads the layout's data in all folders below.
  /// Returns whether it reads them in a folder below, whose path is relative to it. Empty: in none.
  std::function<bool(std::string_view below)> reads_below = {};
  /// Names of folders in it that are the trial's own whatever they hold: no search visits them.
  std::span<const std::string_view> own_folders = {};

  [[nodiscard]] bool reads(std::string_view below) const {
    return reads_all_below || (reads_below && reads_below(below)) ||
           contains(own_folders, below.substr(0, below.find('/')));
  }
};

/// What is opened: a folder, or one file in it.
struct Opening {
  std::string name;            ///< Of the folder: it may tell a step.
  std::string file;            ///< The only file that counts; empty: all.
  std::string step_name = {};  ///< `TrialOptions::step_name`
};

inline constexpr std::size_t first_bytes_of_file = std::size_t{64} << 10;

/// One layout: a row of the table in layout/kinds.
struct LayoutKind {
  LayoutTraits traits;
  std::string_view contents;  ///< What such a trial consists of, for messages: `event files of TensorBoard`.
  /// The folder of a job's output in which the trial usually lies. It is used where the output itself is no trial.
  std::string_view usual_folder = {};
  /// Links are followed wherever they lead. Else nothing outside the trial is read, whatever its files name.
  bool follows_links = true;
  /// Returns what the walk's current folder holds; nullopt if nothing. By names, and first bytes where names do not
  /// tell.
  std::optional<Held> (*holds)(FolderWalk& folder) = nullptr;
  /// Returns whether trials read files of that name. Null: such a trial reads its own folders.
  bool (*reads_file)(std::string_view name) noexcept = nullptr;
  /// Returns whether a single file is a trial, by its name and its first bytes, best those of `read_beginning`. Null:
  /// none is.
  bool (*holds_file)(const Opening& what, std::span<const std::byte> first) = nullptr;
  /// Returns why a file is no such trial: a clause for text, of kind not_yet if the file has only begun and may become
  /// one, else not_found. Null: that need not be said.
  Problem (*why_not)(const Opening& what, std::span<const std::byte> first) = nullptr;
  bool takes_step_name = false;  ///< `TrialOptions::step_name` has a meaning.
  std::unique_ptr<Layout> (*open)(const Opening& what) = nullptr;

  /// Returns whether it counts if `only` is the name of the only layout that does; empty: all do.
  [[nodiscard]] bool counts(std::string_view only) const noexcept { return only.empty() || traits.name == only; }
};

// The layouts: each stands in a folder of its own.

/// Returns the layout of docs/format.md: collections, index and event files.
[[nodiscard]] std::unique_ptr<Layout> debugger_layout(const Opening& what = {});

/// `LayoutKind::holds`: whether the folder has collections, index files, folders of steps in `events`, or the end
/// marker.
[[nodiscard]] std::optional<Held> holds_debugger_trial(FolderWalk& folder);

/// Returns the layout of TensorBoard log directories: folders of event files, each a run, whose records hold
/// everything.
[[nodiscard]] std::unique_ptr<Layout> tensorboard_layout(const Opening& what = {});

/// `LayoutKind::holds`: event files in the folder itself, with which the trial has all runs below; or in folders in it
/// that are sides of one run.
[[nodiscard]] std::optional<Held> holds_log_directory(FolderWalk& folder);

/// Returns the layout of run files of the W&B SDK: all that a run logged, in one file for each time that it ran.
[[nodiscard]] std::unique_ptr<Layout> wandb_layout(const Opening& what = {});

/// `LayoutKind::holds`: a run file in the folder itself, or in the folders in it, if all of these are of one run.
[[nodiscard]] std::optional<Held> holds_runs_of_wandb(FolderWalk& folder);

/// `LayoutKind::holds_file`
[[nodiscard]] bool is_wandb_file(const Opening& what, std::span<const std::byte> first);

/// Returns the layout of folders of safetensors files and files of PyTorch: each checkpoint is a step, each of its
/// files a part of the step.
[[nodiscard]] std::unique_ptr<Layout> checkpoints_layout(const Opening& what);

/// `LayoutKind::holds`: files of checkpoints in the folder itself, or in folders in it whose names have a step, an
/// epoch or a label.
[[nodiscard]] std::optional<Held> holds_checkpoints(FolderWalk& folder);

/// `LayoutKind::holds_file`: by its header, or if it has none, by its name.
[[nodiscard]] bool is_tensor_file(const Opening& what, std::span<const std::byte> first);

/// Returns the layout of metric logs: tables of numbers in CSV or JSON lines.
[[nodiscard]] std::unique_ptr<Layout> metrics_layout(const Opening& what = {});

/// `LayoutKind::holds`: a file with one of the names that loggers give.
[[nodiscard]] std::optional<Held> holds_metric_log(FolderWalk& folder);
/// `LayoutKind::reads_file`
[[nodiscard]] bool is_metric_log_name(std::string_view name) noexcept;
/// Returns the first bytes of a file, which tell what it is: `first_bytes_of_file`, or `limits::row_bytes` of a text
/// whose first row or object is longer than that.
[[nodiscard]] Outcome<std::vector<std::byte>> read_beginning(storage::Storage& storage, const std::string& path);
/// `LayoutKind::holds_file`, and `LayoutKind::why_not`.
[[nodiscard]] bool is_metric_log(const Opening& what, std::span<const std::byte> first);
[[nodiscard]] Problem why_no_metric_log(const Opening& what, std::span<const std::byte> first);

}  // namespace smd::detail::layout
