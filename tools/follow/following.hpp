// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "cli/interruption.hpp"
#include "operands/reading_options.hpp"
#include "select/select.hpp"

#include <smd/trial.hpp>
#include <smd/trial_options.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

/// The options that are about waiting: -F, --timeout, --idle, --interval.
struct FollowingOptions {
  bool follow = false;
  std::optional<std::chrono::nanoseconds> timeout;
  std::optional<std::chrono::nanoseconds> idle;
  std::optional<std::chrono::milliseconds> interval;
  /// Ignored if nothing goes to standard output: with -q, or with -o FILE.
  Interruption::Reader reader = Interruption::Reader::needed;

  /// All four.
  static std::span<const OptionSpec> table() noexcept;
  /// Without -F: for a command that always waits.
  static std::span<const OptionSpec> waiting_table() noexcept;
  /// @throws UsageError; also for the other three without --follow, if the command has that.
  static FollowingOptions from(const CommandLine& line);
  /// As `from`, for a view that is drawn again as a whole: rows can be sorted and limited.
  static FollowingOptions from_redrawn(const CommandLine& line);

  /// The waits that the options mean, counted from now.
  [[nodiscard]] WaitOptions wait_options(std::stop_token stop) const;
  /// Tells whether time is up or a signal has come: then requests end too. With a timeout of 0, everything is requested
  /// once, for as long as it takes.
  [[nodiscard]] std::function<bool()> request_stop(const WaitOptions& wait) const;
  /// Makes `request_stop` end the requests of one trial; with --idle, a store that has not answered for so long ends
  /// them too.
  void end_requests(TrialOptions& options, const std::string& path, const WaitOptions& wait) const;
};

/// `30`, `1.5s`, `5m`, `2h`: seconds unless said otherwise. At most 10^8 seconds. @throws InvalidValue.
[[nodiscard]] std::chrono::nanoseconds parse_duration(std::string_view text);

/// For messages: `10s`, `1.5s`, `5m`, `2h`.
[[nodiscard]] std::string duration_text(std::chrono::nanoseconds duration);

/// What to follow, and how. Everything referred to outlives it.
struct FollowSetup {
  const FollowingOptions& following;
  const SelectionOptions& selection;
  const ReadingOptions& reading;
  SelectionNeeds needs = {};
  bool records = true;  ///< Values will be read.
  /// A row shows a whole step: one that can grow is shown once another one comes, or the following ends; one of a
  /// checkpoint, at once. It is shown again, as a whole, when something that is selected arrives at it later.
  bool whole_steps = false;
  bool listed = false;  ///< Standard input lists the operands: none was meant as the name of a tensor.
  /// Called when a trial is open, before its first step.
  std::function<void(Trial& trial)> opened = {};
};

/// Called for each selected step, once it is complete, in order, with what is selected at it; `operand` is the trial's
/// place. One call at a time, even if several trials are followed.
using FollowVisit = std::function<void(std::size_t operand, Trial& trial, Selection&& selection)>;

/// Follows trials, all at once, until each of their jobs has ended, no further step can be chosen, time is up (status
/// 124), or a signal requests a stop. Reports everything that is missing. Returns whether a step was visited.
/// @throws UsageError for bad patterns; other exceptions of the library end only their trial.
bool follow_trials(const std::vector<std::string>& operands, const FollowSetup& setup, Diagnostics& messages,
                   const FollowVisit& visit);

}  // namespace smd::tool
