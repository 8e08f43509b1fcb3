// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/step.hpp>
#include <smd/trial.hpp>
#include <smd/trial_options.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smd {

struct FollowOptions {
  /// `idle` counts from the start and from each step that was returned.
  WaitOptions wait = {};
  /// Only steps after this one; nullopt: all steps in the trial's range, including those already available.
  std::optional<GlobalStep> after = {};
  /// Hold a step back until its records exist: on S3, or if a tool copies the files, an index file can appear before
  /// its event file. `FollowEvent::missing` says when the follower stops waiting. False: for a caller that reads no
  /// values.
  bool records = true;
  /// In a layout without step files, another file may bring lower steps late. Steps before this one are held back until
  /// they are whole, and later ones until all of these are. A step is whole once a later one has come and nothing up to
  /// it for ten seconds, once nothing has come for a minute, or once the time to wait is over.
  std::optional<GlobalStep> whole_before = {};
};

/// What `StepFollower` returns.
struct FollowEvent {
  /// `reached`: one more complete step. `ended`: all were returned before. Further calls return the same after `ended`,
  /// and after `timed_out` until a step is available.
  WaitOutcome outcome = WaitOutcome::ended;
  /// If `reached`: the step's numbers, as the first worker by name has them.
  GlobalStep step = {};
  Mode mode = Mode::global;
  ModeStep mode_step = {};
  /// The step comes out of order: its worker fell so far behind that it counted as skipped.
  bool late = false;
  /// In a layout without step files (`LayoutTraits::marks_steps` is false) a step can grow: it is returned again, each
  /// time with what has arrived since. For `EntryQuery::arrivals`. With step files that happens if a worker's file
  /// comes after its step was complete, or a saver adds to the step.
  Arrivals arrivals = {};
  /// What arrived was kept back, as later values could replace it (W&B's metrics of the machine at the newest step),
  /// until the wait was over. It is no news for `WaitOptions::idle`.
  bool kept_back = false;
  /// Event files that index files name, but that are missing or too short: the follower waited for
  /// SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT intervals, or the job ended, or their worker saved later steps. Reading
  /// from them gives a problem.
  std::vector<std::string> missing = {};
};

/// Returns each complete step of a trial exactly once, ascending, as it becomes complete, until the job ends. (For
/// steps that grow, see `FollowEvent::arrivals`.) docs/format.md defines a complete step: all workers wrote it, or a
/// later step is complete, or too many incomplete steps follow it, or the job is over.
///
///     smd::StepFollower follower(trial, {.wait = {.idle = std::chrono::minutes(10)}});
///     for (smd::FollowEvent event = follower.next(); event.outcome == smd::WaitOutcome::reached;
///          event = follower.next()) {
///       use(trial, event.step);
///     }
///
/// The follower refreshes the trial; queries between its calls need not (`NoRefresh`, or `TrialOptions::auto_refresh`
/// false). It takes the job as ended when nothing has appeared for SMDEBUG_TRAINING_END_DELAY_REFRESH seconds (default
/// 1) after the end marker, or when time is up; sixty times as long if other workers may not be done, docs/format.md.
/// For use by one thread at a time; other threads may use the trial.
class SMD_EXPORT StepFollower {
 public:
  explicit StepFollower(const Trial& trial, FollowOptions options = {});
  StepFollower(StepFollower&&) noexcept;
  ~StepFollower();

  /// Waits for the next event and returns it. If none comes by `until`, returns `timed_out`.
  /// @throws ReadError: the trial was removed, moved away or made unreadable, or the store does not answer;
  /// IndexReaderException as `TrialOptions::strict` says. May be called again afterwards.
  FollowEvent next(std::optional<std::chrono::steady_clock::time_point> until = {});
  /// Returns the next step if it is available, `ended` if the job is over, else nullopt. May look for new
  /// files, but does not wait.
  std::optional<FollowEvent> poll();
  /// Returns how changes are noticed, also by the waits of `Trial`, for messages: `inotify`, or `polling` and why.
  [[nodiscard]] std::string method() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd
