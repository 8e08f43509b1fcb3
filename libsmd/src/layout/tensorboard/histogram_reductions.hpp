// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/summary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace smd::detail::layout {

/// Prefixes of the stored names of a histogram's reductions, the same as in a debugger trial. `num` is the number of
/// elements, including those outside all buckets (infinities). The last prefix is that of the record, from which the
/// buckets are read.
inline constexpr std::array<std::string_view, 9> reduction_prefixes = {
    "smdebug/reductions/min/",  "smdebug/reductions/max/", "smdebug/reductions/sum/",
    "smdebug/reductions/mean/", "smdebug/reductions/l2/",  "smdebug/reductions/variance/",
    "smdebug/reductions/std/",  "smdebug/reductions/num/", "smdebug/reductions/histogram/"};

/// By `reduction_prefixes`, without the last; nullopt if the sums do not determine the reduction.
using HistogramReductions = std::array<std::optional<double>, reduction_prefixes.size() - 1>;

/// Returns the reductions of a histogram's elements, from its sums; all nullopt if it has no elements. The variance is
/// nullopt if the difference of the sums has only rounding errors.
[[nodiscard]] HistogramReductions reductions_of(const wire::HistogramSums& sums) noexcept;

}  // namespace smd::detail::layout
