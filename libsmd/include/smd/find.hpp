// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/layout.hpp>
#include <smd/problem.hpp>
#include <smd/trial_options.hpp>

#include <optional>
#include <string>
#include <vector>

namespace smd {

/// Where a trial is, and its layout.
struct FoundTrial {
  std::string path;
  LayoutTraits layout;
};

/// Returns the trial that `Trial::open` would open, without reading it; nullopt if the path holds no trial.
/// @throws MissingCollectionFiles if several trials lie below the path; ReadError as `Trial::open`, but not for a path
/// that does not exist.
[[nodiscard]] SMD_EXPORT std::optional<FoundTrial> find_trial(const std::string& path,
                                                              const TrialOptions& options = {});

/// Returns whether the path itself, and not a folder below it, is a trial. Takes as long as listing one folder.
/// @throws ReadError as `find_trial`.
[[nodiscard]] SMD_EXPORT bool is_trial(const std::string& path, const TrialOptions& options = {});

/// Returns the folder of the local trial to which a file belongs, by its name and what lies beside it. Nullopt for any
/// other file, and if nothing has that path.
[[nodiscard]] SMD_EXPORT std::optional<std::string> trial_with_file(const std::string& file);

/// Returns the paths of the trials at or below `place`, which may be a file or on S3, in byte order: of each layout, or
/// of `TrialOptions::layout`. Trials in a trial are found too, but not what a trial reads: a run of a log directory is
/// a trial of its own unless the folder above it has event files too, or the runs are the sides (`train`, `val`) of
/// one; a checkpoint is a step of the folder around it. Symbolic links are followed, but each folder is visited once,
/// under its own name; links to `place` or above it, and into /proc, /sys and /dev, are not.
/// @throws ReadError if `place` itself cannot be read, or the search was stopped; InvalidArgument if there is no such
/// layout. `problems`, if given, receives the places that were not searched, in byte order of paths: folders that
/// cannot be read or lie too deep, links that were not followed (kind remark), and what a limit left out (kind
/// warning).
[[nodiscard]] SMD_EXPORT std::vector<std::string> find_trials(const std::string& place,
                                                              std::vector<Problem>* problems = nullptr,
                                                              const TrialOptions& options = {});

}  // namespace smd
