// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <smd/follow.hpp>
#include <smd/trial.hpp>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/interruption.hpp"
#include "cli/reading_options.hpp"
#include "follow/following_options.hpp"

namespace smd::tool {

/// The trials of a command with --follow: each is opened once it exists and visited in a thread of its own, until a
/// signal, --timeout or --idle ends the visit. The loop inside a trial is the visitor's: `follow_trials` takes a step
/// at a time; smd-rule evaluates what has come, and tells rules that time passes.
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

  /// How long, and until when, a visit waits.
  [[nodiscard]] const WaitOptions& wait() const noexcept { return wait_; }
  /// Tells whether requests to a store must end.
  [[nodiscard]] const std::function<bool()>& stop() const noexcept { return stop_; }
  /// Whether a signal has requested a stop.
  [[nodiscard]] bool interrupted() const noexcept { return interruption_.asked(); }
  /// A visit locks it while it prints.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

 private:
  const FollowingOptions& following_;
  const ReadingOptions& reading_;
  Diagnostics& messages_;
  Interruption interruption_;
  WaitOptions wait_;
  std::function<bool()> stop_;
  std::mutex mutex_;
};

/// Reports what is wrong with files of the trial, each problem once.
void report_problems(const Trial& trial, Diagnostics& messages);

/// Reports the files that a step lacks. Call `Diagnostics::say_missing` afterwards.
void report_missing_files(const Trial& trial, const FollowEvent& event, Diagnostics& messages);

}  // namespace smd::tool
