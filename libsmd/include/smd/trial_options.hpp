// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>
#include <smd/step.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace smd {

/// Which global steps a `Trial` reads; by default every step. Index files outside the range are listed, but not opened
/// (except the newest of them, if the last complete step cannot be determined otherwise).
struct StepRange {
  std::optional<GlobalStep> first = {};  ///< Nullopt: no lower bound.
  std::optional<GlobalStep> end = {};    ///< Exclusive; nullopt: no upper bound.
  /// Number of the newest steps to read, by the names of index files, and all later ones. Not with bounds or `oldest`.
  std::optional<std::size_t> newest = {};
  std::optional<std::size_t> oldest = {};  ///< Number of the oldest steps to read. Not with bounds or `newest`.
};

/// Which values a trial shows if later ones superseded some of them (after a restart of the job, say).
enum class Superseded : std::uint8_t {
  left_out,  ///< Those that count.
  only,      ///< Those that were superseded.
  included,  ///< All; `TensorEntry::superseded` tells them apart.
};

/// How a trial is opened and read.
// All members have initialisers, so that `{.name = …}` compiles without warnings.
struct TrialOptions {
  std::string name = {};       ///< For messages and output; default: the last part of the path.
  std::string layout = {};     ///< Read as that layout, whatever else lies there (`layouts`); default: as it is found.
  std::string step_name = {};  ///< In W&B run files, CSV and JSON lines: the name whose values are the steps.
  StepRange range_steps = {};  ///< What to read at first; `Trial::load_range` reads more.
  unsigned jobs = 0;           ///< Threads; 0: one per CPU. On S3: requests at once; 0: 32.
  bool verify = true;          ///< Check payload checksums if records have them. Length checksums are always checked.
  bool strict = false;         ///< Throw IndexReaderException at the first damaged index file.
  /// In a layout without step files, treat the trial as ended, as the commands do without --follow: a last line without
  /// an end is read, a record that was cut short is damaged, and choices such as the step column are made for the whole
  /// file. Later changes are not read, except by `Trial::load_range`. Set it to read what is at rest. False: more may
  /// appear at any time, so what is incomplete is not read yet.
  bool as_it_stands = false;
  Superseded superseded = Superseded::left_out;
  bool auto_refresh = true;  ///< Look for new steps on every query, as the reference does.
  /// With `as_it_stands`: only until a refresh finds something new, or something waits for more (`StepFollower`, and
  /// the functions of `Trial` with `wait` in their names). From then on more may appear at any time.
  bool until_it_grows = false;
  /// Called from time to time with the number of index files read and their total; by `check_trial` also with the
  /// number of step files checked and their total. Always in the calling thread. Must not call back into the trial.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  /// Nullopt: SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW, or 1000 if that is not set.
  std::optional<std::size_t> incomplete_step_wait_window = {};
  RemoteOptions remote = {};  ///< For trials on S3.
};

/// How long to wait, and what ends the wait early, including its requests to a remote store. Times are those of the
/// steady clock.
struct WaitOptions {
  /// Give up at this moment; nullopt: never. If it has passed, look once.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Give up when no further step has become complete for this long, counted from the start and from each such step.
  std::optional<std::chrono::nanoseconds> idle = {};
  /// Look at least this often, even if changes are notified (by inotify, on local disks). Nullopt: 2 s for local
  /// trials, 5 s on S3. At least 1 ms.
  std::optional<std::chrono::milliseconds> interval = {};
  /// Ends the wait from another thread.
  std::stop_token stop = {};
};

/// How a wait ended.
enum class WaitOutcome : std::uint8_t {
  reached,    ///< The condition of the wait is met.
  ended,      ///< The job is over, so the condition will never be met.
  timed_out,  ///< The deadline passed.
  idle,       ///< No further step became complete for `WaitOptions::idle`.
  stopped,    ///< A stop was requested.
};

}  // namespace smd
