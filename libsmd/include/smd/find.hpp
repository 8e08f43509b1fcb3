// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/trial_options.hpp>

#include <string>
#include <vector>

namespace smd {

/// Returns the paths of the trials at or below `place`, which may be on S3, in byte order. Each run of a TensorBoard
/// log directory is a trial, unless the runs are the sides (`train`, `val`) of one. A symbolic link to a trial outside
/// `place` counts as a trial; of several links to the same trial, only the first does. A link to another folder outside
/// `place` is searched for TensorBoard event files. No other link below `place` is followed, so the search cannot loop.
/// @throws ReadError if `place` itself cannot be read. `problems`, if given, receives the places that were not
/// searched, on local disks in byte order of paths: folders that cannot be read or lie too deep, and links that were
/// not followed (kind warning).
[[nodiscard]] SMD_EXPORT std::vector<std::string> find_trials(const std::string& place,
                                                              std::vector<Problem>* problems = nullptr,
                                                              const TrialOptions& options = {});

}  // namespace smd
