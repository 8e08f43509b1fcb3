// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "layout/layout_kind.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"

#include <smd/problem.hpp>
#include <smd/trial_options.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::trial {

/// The path of a trial, or of a place to search.
class TrialPath {
 public:
  explicit TrialPath(std::string_view path);

  /// Returns the path without a slash at its end.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the folder's own name, also of `.`.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string path_of(std::string_view below) const;

 private:
  std::string path_;
};

/// Settings that only tests change.
struct Environment {
  const Clock* clock = &system_clock();
  std::function<Outcome<std::unique_ptr<storage::Storage>>(const std::string& path)> open = {};
  /// Called to make the layout. If empty, the layout is recognised.
  std::function<std::unique_ptr<layout::Layout>()> layout = {};
  LayoutTraits traits = {};  ///< Of that layout.
};

/// The storage and the layout of a trial.
struct OpenedTrial {
  std::unique_ptr<storage::Storage> storage;
  LayoutTraits traits;
  std::unique_ptr<layout::Layout> layout;
  std::string file = {};                 ///< The only file of the folder that is the trial; empty: all.
  std::string alone_in = {};             ///< The local folder of which it is the only trial; empty: it was named.
  std::vector<std::string> others = {};  ///< Folders in it that are trials of their own: those near.
  std::vector<Problem> notes;
};

/// Finds the storage and the layout of the trial at `path`, or of the only one below it, without reading the trial.
/// @throws as `Trial::open`.
[[nodiscard]] OpenedTrial open_trial(const std::string& path, const TrialOptions& options,
                                     const Environment& environment);

/// Returns what lies in a folder: `(it holds 'a', 'b')`, and what the nearest files are whose first bytes tell.
[[nodiscard]] std::string what_lies_in(storage::Storage& storage);

/// Returns the last part of a path, `job` of `s3://bucket/job/`; the path itself if it has no parts.
[[nodiscard]] std::string last_part(std::string_view path);

/// Returns a stop that counts only after a while, for a look on disk: one that is shorter is not worth stopping, and
/// what it finds as time runs out still counts. Empty if `stop` is.
[[nodiscard]] inline std::function<bool()> unless_short(const std::function<bool()>& stop) {
  constexpr std::chrono::milliseconds short_look{100};
  using Clock = std::chrono::steady_clock;
  return !stop ? stop : [stop, end = Clock::now() + short_look] { return stop() && Clock::now() >= end; };
}

}  // namespace smd::detail::trial
