// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>

#include <optional>

/// What the saved buckets of a histogram tell of values that were not saved.
namespace smd::detail::rules {

/// Whether all that is known of a unit's absolute values is a histogram: neither they nor their mean was saved.
[[nodiscard]] bool has_only_buckets(const Unit& unit);

/// What `most_abs_mean` needs.
void need_buckets(StepNeeds& step, const Unit& unit);
/// What the mean of the absolute values is at most: that of elements which all lie at the edge of their bucket that is
/// farther from 0, edges being cut to the saved min and max. NaN if there may be NaN among the elements; nothing
/// without elements.
[[nodiscard]] std::optional<double> most_abs_mean(StepView& step, const Unit& unit);

}  // namespace smd::detail::rules
