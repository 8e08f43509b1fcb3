// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <smd/trial.hpp>
#include <string>
#include <string_view>

#include "cli/diagnostics.hpp"
#include "follow/following_options.hpp"

namespace smd::tool {

/// Opens a trial that need not exist yet: waits for its directory and the first collections file, and announces at
/// `announced` (`warning`: unless -q; `info`: with -v) that it waits. Returns nullopt if no trial appeared in time,
/// which it reports with status 124, or if a stop was requested. If nothing marks the end of the job, it counts as
/// running.
/// @param hint as for `fail_to_open`.
/// @param following The options that `wait` was made from.
/// @throws as `Trial::open_when_there`; NotFound only if the path can never be a trial, or with a timeout of 0.
[[nodiscard]] std::optional<Trial> open_awaited(const std::string& path, TrialOptions options,
                                                const FollowingOptions& following, const WaitOptions& wait,
                                                Diagnostics& messages, Level announced, std::string_view hint = {});

}  // namespace smd::tool
