// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/trial_options.hpp>

#include <string>
#include <vector>

namespace smd {

/// Paths of the trials at or below `place` (which may be on S3), in byte order; of a TensorBoard log directory with
/// several runs, each of them. A symbolic link to a trial that lies elsewhere counts as one, the first of several to
/// the same; one to a folder elsewhere is searched for event files of TensorBoard. No other link below `place` is
/// followed: none can loop.
/// @throws ReadError if `place` itself cannot be read. What could not be entered goes to `problems`, if given, in byte
/// order of paths: folders that cannot be read or lie too deep, and links that were not followed (kind warning).
[[nodiscard]] SMD_EXPORT std::vector<std::string> find_trials(const std::string& place,
                                                              std::vector<Problem>* problems = nullptr,
                                                              const TrialOptions& options = {});

}  // namespace smd
