// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>

#include <optional>

/// Bounds on values that were not saved, from the buckets of a saved histogram.
namespace smd::detail::rules {

/// Returns whether a histogram is all that is known of a unit's absolute values: neither the value nor their mean was
/// saved.
[[nodiscard]] bool has_only_buckets(const Unit& unit);

/// Bounds of the mean of the absolute values.
struct AbsMeanBounds {
  double least = 0;
  double most = 0;
};

/// Requests what `abs_mean_bounds` needs.
void need_buckets(StepNeeds& step, const Unit& unit);
/// Returns the means that result if all elements lie at the edge of their bucket that is nearer to 0 (at 0 if the
/// bucket contains it), and if all lie at the other edge. Edges are clamped to the saved min and max. Both are NaN if
/// an element is NaN. Returns nullopt if there are no elements.
[[nodiscard]] std::optional<AbsMeanBounds> abs_mean_bounds(StepView& step, const Unit& unit);

}  // namespace smd::detail::rules
