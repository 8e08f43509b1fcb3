// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>

#include <optional>

/// What the saved buckets of a histogram tell of values that were not saved.
namespace smd::detail::rules {

/// Whether all that is known of a unit's absolute values is a histogram: neither they nor their mean was saved.
[[nodiscard]] bool has_only_buckets(const Unit& unit);

/// Between which numbers the mean of the absolute values lies.
struct AbsMeanBounds {
  double least = 0;
  double most = 0;
};

/// What `abs_mean_bounds` needs.
void need_buckets(StepNeeds& step, const Unit& unit);
/// The means if all elements lie at the edge of their bucket that is nearer to 0 (at 0 if that is inside), and if all
/// lie at the other; edges are cut to the saved min and max. Both are NaN if there are NaN among the elements. Nothing
/// without elements.
[[nodiscard]] std::optional<AbsMeanBounds> abs_mean_bounds(StepView& step, const Unit& unit);

}  // namespace smd::detail::rules
