// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace smd {

/// What the job was doing at a step. The numbers are those stored in event files.
enum class Mode : std::uint8_t {
  train = 1,
  eval = 2,
  predict = 3,
  global = 4,  ///< The job set no mode; as a query: all modes, counted in global steps.
};

/// Returns `TRAIN`, `EVAL`, `PREDICT` or `GLOBAL`, as index files spell it.
[[nodiscard]] SMD_EXPORT std::string_view to_string(Mode mode) noexcept;

/// Returns the mode with that name, in any case of letters; nullopt for any other text.
[[nodiscard]] SMD_EXPORT std::optional<Mode> parse_mode(std::string_view text) noexcept;

namespace detail {
/// A step number that does not convert to another kind of step number.
template <class Tag>
struct StepNumber {
  std::int64_t value = 0;

  constexpr StepNumber() = default;
  constexpr explicit StepNumber(std::int64_t number) noexcept : value(number) {}
  constexpr auto operator<=>(const StepNumber&) const = default;
};
}  // namespace detail

/// Counts the steps of a job over all modes, from 0.
using GlobalStep = detail::StepNumber<struct GlobalStepTag>;

/// Counts the steps of one mode, from 0. In mode `global` it equals the global step.
using ModeStep = detail::StepNumber<struct ModeStepTag>;

/// Names one step: by its global number, or by its number within a mode.
struct StepKey {
  Mode mode = Mode::global;
  std::int64_t number = 0;

  constexpr StepKey() = default;
  constexpr StepKey(GlobalStep step) noexcept  // NOLINT(google-explicit-constructor): a global step names a step
      : number(step.value) {}
  constexpr StepKey(Mode in_mode, ModeStep step) noexcept : mode(in_mode), number(step.value) {}
  constexpr bool operator==(const StepKey&) const = default;
};

/// One known step of a trial.
struct SnapshotStep {
  GlobalStep step;
  Mode mode = Mode::global;  ///< As the first worker by name saved it.
  ModeStep mode_step = {};
  bool complete = false;
};

/// Whether the values of a step can be read: now, never (it was skipped, or the job ended), or perhaps later.
enum class StepState : std::uint8_t { available, unavailable, not_yet_available };

/// Returns `AVAILABLE`, `UNAVAILABLE` or `NOT_YET_AVAILABLE`.
[[nodiscard]] SMD_EXPORT std::string_view to_string(StepState state) noexcept;

}  // namespace smd
