// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"

#include <smd/problem.hpp>
#include <smd/trial_options.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace smd::detail::trial {

/// What tests choose otherwise.
struct Environment {
  const Clock* clock = &system_clock();
  std::function<Outcome<std::unique_ptr<storage::Storage>>(const std::string& path)> open = {};
  /// None: the layout that is found there.
  std::function<std::unique_ptr<layout::Layout>()> layout = {};
};

/// Where a trial lies, and how.
struct OpenedTrial {
  std::unique_ptr<storage::Storage> storage;
  std::unique_ptr<layout::Layout> layout;
  std::vector<Problem> notes;
};

/// Finds the storage and the layout of the trial at `path`, and reads nothing of it yet. @throws as `Trial::open`.
[[nodiscard]] OpenedTrial open_trial(const std::string& path, const TrialOptions& options,
                                     const Environment& environment);

/// The storage that a trial at `path` would be read from, to be watched until there is one; null if there is none.
[[nodiscard]] std::unique_ptr<storage::Storage> open_to_watch(const std::string& path);
/// What to watch there.
[[nodiscard]] storage::WatchScope watched_before_birth();

/// The last part of a path, `job` of `s3://bucket/job/`; the path itself if it has no parts.
[[nodiscard]] std::string last_part(std::string_view path);

}  // namespace smd::detail::trial
