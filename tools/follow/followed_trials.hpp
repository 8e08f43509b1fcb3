// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "cli/interruption.hpp"
#include "follow/following.hpp"
#include "operands/reading_options.hpp"

#include <smd/follow.hpp>
#include <smd/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::tool {

/// What has come since the last tick.
struct FollowTick {
  std::optional<GlobalStep> last;  ///< The last step that became complete, if there is something to evaluate.
  /// The last step to which the trials that it is compared with have come, at most `last`; nullopt: to none.
  std::optional<GlobalStep> compared;
  /// Values came to steps of earlier ticks, or some of these no longer count: everything must be evaluated again, up to
  /// `last`. It is set so late that evaluating takes at most a tenth of the time. Until then `last` is empty.
  bool again = false;
  bool ended = false;  ///< The job is over, and all of its steps have come to ticks.
  /// No more comes to lower steps. In a layout that does not mark steps, this is known only after a while.
  GlobalStep whole{INT64_MAX};
  /// The trial may hold something new, complete or not, or its job is over: time that passes is no stall.
  bool new_data = false;
};

/// The trials of a command with --follow: each is opened once it exists and visited in a thread of its own, until a
/// signal, --timeout or --idle ends the visit. There are two ways to go through a trial: `follow_trials` takes a step
/// at a time, `in_ticks` what has come.
class FollowedTrials {
 public:
  /// The arguments must outlive this object.
  FollowedTrials(const FollowingOptions& following, const ReadingOptions& reading, Diagnostics& messages);

  /// Visits all trials at once, and returns when all visits have ended. `range`: what to read of a trial at first.
  /// `listed`: standard input lists the operands, or none can be meant as the name of a tensor. `unread`: called for a
  /// trial that was not visited, in its thread, after the reason was reported; not if a signal requested a stop.
  /// @throws Any exception of a visit that concerns more than its trial, after the other visits have ended.
  void visit(const std::vector<std::string>& operands, const StepRange& range, bool listed,
             const std::function<void(std::size_t operand, Trial& trial)>& visit,
             const std::function<void(std::size_t operand)>& unread = {});

  /// Opens a trial as `visit` does: waits for it if it is not there yet. Returns nullopt if it did not come in time,
  /// which it reports with status 124, or if a stop was requested. @throws as `open_awaited`.
  [[nodiscard]] std::optional<Trial> open(const std::string& path, TrialOptions options, std::string_view hint = {});

  /// Goes through a trial that is visited: calls `tick` when something may be new, and at least once a second, so that
  /// time passes for rules. Ends when `tick` returns true. A signal, --timeout or --idle ends it too: then calls
  /// `give_up`, after the last two were reported with their status.
  /// @param others Trials that it is compared with. While the job of one of them is running, `FollowTick::compared` is
  /// not after the last step of that trial; if time is up before, a warning names the rest.
  void in_ticks(Trial& trial, const std::string& name, const std::deque<Trial>& others,
                const std::function<bool(const FollowTick&)>& tick, const std::function<void()>& give_up);

  /// How long, and until when, a visit waits.
  [[nodiscard]] const WaitOptions& wait() const noexcept { return wait_; }
  /// Tells whether requests to a store must end.
  [[nodiscard]] const std::function<bool()>& stop() const noexcept { return stop_; }
  /// Whether a signal has requested a stop.
  [[nodiscard]] bool interrupted() const noexcept { return interruption_.asked(); }
  /// A visit locks it while it prints.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

 private:
  class Ticks;

  const FollowingOptions& following_;
  const ReadingOptions& reading_;
  Diagnostics& messages_;
  Interruption interruption_;
  WaitOptions wait_;
  std::function<bool()> stop_;
  std::mutex mutex_;
};

/// The number of values that later ones superseded.
[[nodiscard]] std::uint64_t superseded_values(const Trial& trial);

/// Notices changes of what a followed trial had before.
class KnownPast {
 public:
  /// Returns whether values were superseded, steps came late or all was read anew since the last call; true at first.
  [[nodiscard]] bool changed(const Trial& trial);

 private:
  std::optional<std::pair<std::uint64_t, std::uint64_t>> state_;  // superseded values, generation
  std::size_t known_ = 0;                                         // known steps up to `newest_`
  GlobalStep newest_;                                             // the last complete step
};

/// When the first value of a followed trial was written.
class StartTime {
 public:
  /// As `first_time`, but looks again only if the trial's past has changed.
  [[nodiscard]] double of(const Trial& trial, Diagnostics& messages);

 private:
  KnownPast past_;
  double started_ = 0;
};

/// Reports that a trial is not followed any more, with status 124. `idle`: because no new step came.
void report_time_up(const std::string& trial, bool idle, Diagnostics& messages);
/// Reports what is wrong with files of the trial, each problem once; what a writer may mend only when the following is
/// `over`.
void report_problems(const Trial& trial, bool over, Diagnostics& messages);

/// Reports the files that a step lacks. Call `Diagnostics::say_missing` afterwards.
void report_missing_files(const Trial& trial, const FollowEvent& event, Diagnostics& messages);

/// Opens a trial that need not exist yet: waits for its directory and the first collections file, and announces at
/// `announced` (`warning`: unless -q; `info`: with -v) that it waits. Returns nullopt if no trial appeared in time,
/// which it reports with status 124, or if a stop was requested. If nothing marks the end of the job, it counts as
/// running.
/// @param hint as for `fail_to_open`.
/// @param following The options that `wait` was made from.
/// @throws as `Trial::open_when_there`; NotFound also if a file in the folder is refused before the waiting begins.
[[nodiscard]] std::optional<Trial> open_awaited(const std::string& path, TrialOptions options,
                                                const FollowingOptions& following, const WaitOptions& wait,
                                                Diagnostics& messages, Level announced, std::string_view hint = {});

/// Calls `visit` with each number below `count`, all at once, each in a thread of its own; a single one in the
/// caller's. The first exception, or failure to start a thread, requests a stop of `interruption`, so that the others
/// end too, and is thrown when they have.
void side_by_side(std::size_t count, Interruption& interruption, const std::function<void(std::size_t)>& visit);

}  // namespace smd::tool
