// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "draw/chart.hpp"

namespace smd::tool {

/// The axis of a statistic by its column's name: said in full, with its unit; a share reaches from 0 to 1.
[[nodiscard]] ChartAxis statistic_axis(std::string_view name);

/// The places of percentiles (`min`, `p25`, `median`, `max`) among columns, from the least to the greatest percentile;
/// empty if a column is not a percentile, or is one that was named before.
[[nodiscard]] std::vector<std::size_t> percentile_order(std::span<const std::string> names);

}  // namespace smd::tool
