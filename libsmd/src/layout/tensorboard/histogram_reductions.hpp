// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/series_rows.hpp"
#include "wire/summary.hpp"

#include <array>
#include <optional>

namespace smd::detail::layout {

/// By `reduction_prefixes`, without the last; nullopt if the sums do not determine the reduction.
using HistogramReductions = std::array<std::optional<double>, reduction_prefixes.size() - 1>;

/// Returns the reductions of a histogram's elements, from its sums; all nullopt if it has no elements. The variance is
/// nullopt if the difference of the sums has only rounding errors.
[[nodiscard]] HistogramReductions reductions_of(const wire::HistogramSums& sums) noexcept;

}  // namespace smd::detail::layout
