// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <smd/step.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rows/best_and_last.hpp"
#include "thin_curve.hpp"

namespace smd::tool::report {

/// What a tensor is in training: which section of the page it belongs to.
enum class Role : std::uint8_t { loss, gradient, weight, bias, activation, other };

/// What has a curve over all steps: statistics of the elements, and then how much a weight changed.
enum class Measure : std::uint8_t { l2, mean, min, max, zero_fraction, update_ratio };
inline constexpr std::size_t measures = 5;  ///< The statistics.

/// The statistics of a fan, by name and from the least to the greatest percentile.
inline constexpr std::array<std::string_view, 7> fan_names = {"min", "p5", "p25", "p50", "p75", "p95", "max"};

/// The distribution of the elements at one step; NaN if unknown.
struct FanSample {
  GlobalStep step;
  std::size_t place = 0;  ///< In `Fan::gaps`.
  std::array<double, fan_names.size()> numbers = {};
};

/// Samples at every N-th step, where N doubles when there are many. The first one stays.
struct Fan {
  std::size_t every = 1;  ///< N, counted in the tensor's steps.
  std::vector<FanSample> samples = {};
  GapFinder gaps = {};    ///< Of all values that were read, at sampled steps or not.
  std::uint64_t nan = 0;  ///< Elements of these values that are NaN.
};

/// What one tensor did in one mode.
struct ModeHistory {
  std::array<ThinCurve, measures> curves;
  ThinCurve update_ratio;  ///< |w - w before| / |w before|.
  Fan fan;

  [[nodiscard]] const ThinCurve& of(Measure measure) const noexcept {
    return measure == Measure::update_ratio ? update_ratio : curves[static_cast<std::size_t>(measure)];
  }
};

/// What one tensor did, as the first worker by name that saved it recorded it at each step, if nothing else is said.
struct TensorHistory {
  Role role = Role::other;
  std::map<Mode, ModeHistory> modes = {};
  std::map<Mode, BestAndLast> losses = {};  ///< Of all workers; only of a loss.
  /// By worker and mode: the values of scalars, if several workers saved them.
  std::map<std::pair<std::string, Mode>, ThinCurve> workers = {};
  std::size_t steps = 0;
  GlobalStep first_step = {};
  GlobalStep last_step = {};
  std::optional<std::uint64_t> elements = {};  ///< The most that a value of any worker had, if one was read.
  std::uint64_t nan = 0;                       ///< Over all steps and workers.
  std::uint64_t inf = 0;
  std::optional<GlobalStep> first_not_finite = {};  ///< The first step with NaN or an infinity, of any worker.

  [[nodiscard]] bool scalar() const noexcept { return elements && *elements == 1; }
};

/// What was gathered of a trial.
struct Histories {
  std::map<std::string, TensorHistory, std::less<>> tensors = {};
  ThinCurve seconds;                      ///< Between a step and the one before it, by when their records were written.
  std::optional<double> last_write = {};  ///< Seconds since 1970.
  std::uint64_t tensors_left_out = 0;     ///< Of one step, because there are too many.
  std::uint64_t left_out = 0;             ///< Weights that are too large for the ratio of their updates.
};

/// Keeps the first of some items and then every second one.
template <class Item>
void halve(std::vector<Item>& items) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); i += 2) {
    std::swap(items[kept++], items[i]);
  }
  items.resize(kept);
}

}  // namespace smd::tool::report
