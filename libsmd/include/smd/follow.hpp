// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/step.hpp>
#include <smd/trial.hpp>
#include <smd/wait.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smd {

struct FollowOptions {
  /// `idle` counts from the start and from each step that was given.
  WaitOptions wait = {};
  /// Only steps after this one; none: all that the trial covers, beginning with those already there.
  std::optional<GlobalStep> after = {};
  /// Hold a step back until its records are there: an index file can come before its event file, on S3 or by a copying
  /// tool. Gives up as `FollowEvent::missing` says. False: for a caller that reads no values.
  bool records = true;
};

/// What a follower comes back with.
struct FollowEvent {
  enum class Kind : std::uint8_t {
    step,       ///< One more complete step.
    ended,      ///< The job is over and all its steps were given. Asked again, the same.
    timed_out,  ///< The deadline passed. Asked again, the same, unless steps are there.
    idle,       ///< No step came for so long.
    stopped,    ///< The stop token asked for it.
  };

  Kind kind = Kind::ended;
  /// For `step`: its numbers, as the first worker by name has them.
  GlobalStep step = {};
  Mode mode = Mode::global;
  ModeStep mode_step = {};
  /// The step appeared behind one that was given already: a worker that fell so far behind that its step counted as
  /// never to come. It is given all the same, out of order.
  bool late = false;
  /// Where a layout has no step files (`Trial::marks_steps` is false), a step can grow: it is given again, each time
  /// with what came since. For `EntryQuery::arrivals`.
  Arrivals arrivals = {};
  /// Event files that did not come, although index files name them: they were waited for as long as
  /// SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT intervals, or the job ended, or their writer went on. Reading from them
  /// gives a problem.
  std::vector<std::string> missing = {};
};

/// Gives each complete step of a trial exactly once, ascending, as they come, until the job ends. (A trial whose values
/// come one by one: see `FollowEvent::arrivals`.) A step is complete as
/// docs/format.md has it: all workers wrote it, or a later step is complete, or too many incomplete ones came after it,
/// or the job is over.
///
///     smd::StepFollower follower(trial, {.wait = {.idle = std::chrono::minutes(10)}});
///     for (smd::FollowEvent event = follower.next(); event.kind == smd::FollowEvent::Kind::step;
///          event = follower.next()) {
///       use(trial, event.step);
///     }
///
/// It refreshes the trial; queries in between need not (`NoRefresh`, or `TrialOptions::auto_refresh` false). The end of
/// the job is believed when nothing came for SMDEBUG_TRAINING_END_DELAY_REFRESH seconds (1) after its marker, or when
/// time is up. Used by one thread at a time; others may use the trial.
class SMD_EXPORT StepFollower {
 public:
  explicit StepFollower(const Trial& trial, FollowOptions options = {});
  StepFollower(StepFollower&&) noexcept;
  StepFollower& operator=(StepFollower&&) noexcept;
  ~StepFollower();

  /// The next event; waits for it.
  /// @throws ReadError: the trial was removed, moved away or made unreadable, or the store does not answer;
  /// IndexReaderException as `TrialOptions::strict` says. It may be called again.
  FollowEvent next();
  /// The next step if it is there already, or `ended`; nothing otherwise. Looks for new files if none is at hand.
  std::optional<FollowEvent> poll();
  /// How changes are noticed: `inotify`, or `polling` and why. For messages.
  [[nodiscard]] std::string method() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd
