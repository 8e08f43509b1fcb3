// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/trial_options.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// What differs between the layouts in which a job's data are stored: all that a program need know of a layout.
struct LayoutTraits {
  std::string_view name;     ///< `debugger`, `tensorboard`, `wandb`, `checkpoints`, `metrics`; never freed.
  bool has_modes = false;    ///< Steps have modes; else all have `Mode::global`, and names tell what is training.
  bool marks_steps = false;  ///< Index files mark steps, so that each is complete at some moment; else a step can grow.
  bool has_checksums = false;  ///< A changed element can be found.
  bool has_headers = false;    ///< Headers tell the type and shape of each value before it is read.
  bool has_system = false;     ///< Metrics of the machine are in a collection `system`, which no query has by default.
  bool is_saved = false;       ///< Hooks and smd-save write it.
};

/// Returns all layouts, in the order in which a folder is looked at.
[[nodiscard]] SMD_EXPORT std::vector<LayoutTraits> layouts();

/// Where a trial is, and its layout.
struct FoundTrial {
  std::string path;
  LayoutTraits layout;
};

/// Returns the trial that `Trial::open` would open, without reading it; nullopt if the path does not exist, or holds no
/// trial or a log that has only begun. @throws MissingCollectionFiles if several trials lie below it; ReadError.
[[nodiscard]] SMD_EXPORT std::optional<FoundTrial> find_trial(const std::string& path,
                                                              const TrialOptions& options = {});

/// Returns the folder of the local trial that a folder itself is or, of a file, to which it belongs by its name and
/// what lies beside it. Nullopt for any other path, and for what cannot be read. Takes as long as listing one folder.
[[nodiscard]] SMD_EXPORT std::optional<std::string> trial_at(const std::string& path);

/// Returns the paths of the trials at or below `place`, which may be a file or on S3, in byte order: of each layout, or
/// of `TrialOptions::layout`. Trials in a trial are found too, but not what a trial reads: a run of a log directory is
/// a trial of its own unless the folder above it has event files too, or the runs are the sides (`train`, `val`) of
/// one; a checkpoint is a step of the folder around it. Symbolic links are followed, but each folder is visited once,
/// under its own name; links to `place` or above it, and into /proc, /sys and /dev, are not.
/// `problems`, if given, receives the places that were not searched, in byte order of paths: folders that cannot be
/// read or lie too deep, links that were not followed (kind remark), and what a limit left out (kind warning).
/// @throws ReadError if `place` cannot be read, or the search was stopped; InvalidArgument if there is no such layout.
[[nodiscard]] SMD_EXPORT std::vector<std::string> find_trials(const std::string& place,
                                                              std::vector<Problem>* problems = nullptr,
                                                              const TrialOptions& options = {});

/// What a full check of a trial found.
struct CheckReport {
  std::uint64_t index_files = 0;
  std::uint64_t event_files = 0;
  std::uint64_t records = 0;
  std::uint64_t unprotected = 0;  ///< Records without a checksum of their payload.
  std::uint64_t bytes = 0;
  bool damaged = false;  ///< At least one problem is damage.
  LayoutTraits layout;
};

/// Reads everything in a trial but elements whose type is not read: every index file, every record that one names, and
/// the names of all files. Passes each problem and note on as it is found. Ignores ranges, `strict`, `auto_refresh`.
/// @throws as `Trial::open`, but damaged collections are a problem, not an error.
SMD_EXPORT CheckReport check_trial(const std::string& path, const TrialOptions& options,
                                   const std::function<void(const Problem&)>& report_problem);

}  // namespace smd
