// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <smd/trial.hpp>
#include <string>
#include <vector>

#include "options.hpp"
#include "rows/cell.hpp"

namespace smd::tool::wait {

/// One thing to wait for.
struct Condition {
  enum class Kind : std::uint8_t { collections, step, tensor, value, after, count, end };

  Kind kind = Kind::collections;
  Mode mode = Mode::global;
  std::optional<std::int64_t> number = {};  ///< A step, or what --after and --count say.
  TensorQuery tensors = {};                 ///< For `tensor`: one name, pattern or collection; for `value` a name.
  Comparison comparison = {};               ///< For `value`.
  std::string text;                         ///< `step 5`, for messages.
};

/// The state of a condition.
struct Standing {
  StepState state = StepState::not_yet_available;
  std::optional<GlobalStep> step = {};       ///< The step concerned, if known.
  bool skipped = false;                      ///< Unavailable because the job left it out, not because the job ended.
  std::optional<Cell> value = {};            ///< The value that met the condition.
  std::optional<GlobalStep> last_step = {};  ///< Of the last value.
  Cell last = {};                            ///< The last value, whether it meets the condition or not.
  bool no_number = false;                    ///< None of the values is a single number.
  std::vector<Problem> problems = {};        ///< Why values could not be read.
};

/// What looks at one trial have read for a condition of kind `value`, so that the next one reads only later steps.
struct ReadValues {
  using Clock = std::chrono::steady_clock;

  Standing standing = {};
  std::optional<GlobalStep> last = {};  ///< The last step up to which all was read; nullopt: read all.
  std::size_t steps = 0;                ///< The number of steps up to that one.
  std::uint64_t generation = 0;         ///< Of the trial.
  Clock::time_point read_again = {};    ///< When to read all again: a value may have been written anew.
};

/// All conditions that the options ask for; at least one.
[[nodiscard]] std::vector<Condition> conditions_of(const WaitCommandOptions& options);

/// Evaluates a condition by what is known of the trial. `read`: of this condition and trial, at first empty.
/// @throws InvalidArgument, MatchLimit.
[[nodiscard]] Standing standing_of(const Condition& condition, const Trial& trial, ReadValues& read);

/// The end of a message about a wait that failed: the nearest steps, other modes, similar names. Reads all of the
/// trial. Empty if there is nothing to add.
[[nodiscard]] std::string advice_for(const Condition& condition, const Standing& standing, Trial& trial);

/// The steps that must be read to evaluate the conditions.
[[nodiscard]] StepRange range_for(const std::vector<Condition>& conditions);

}  // namespace smd::tool::wait
