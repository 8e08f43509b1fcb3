// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/summary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace smd::detail::layout {

/// How the stored names of a histogram's reductions begin, as those of a debugger trial. `num` is the number of
/// elements, those outside all buckets too (infinities). The last one is that of the record, whose buckets are read
/// from it.
inline constexpr std::array<std::string_view, 9> reduction_prefixes = {
    "smdebug/reductions/min/",  "smdebug/reductions/max/", "smdebug/reductions/sum/",
    "smdebug/reductions/mean/", "smdebug/reductions/l2/",  "smdebug/reductions/variance/",
    "smdebug/reductions/std/",  "smdebug/reductions/num/", "smdebug/reductions/histogram/"};

/// By `reduction_prefixes`, without the last; nullopt if the sums do not tell.
using HistogramReductions = std::array<std::optional<double>, reduction_prefixes.size() - 1>;

/// What a histogram's sums say of its elements; nothing if there are none. A variance of which the difference of the
/// sums leaves only rounding errors is not given.
[[nodiscard]] HistogramReductions reductions_of(const wire::HistogramSums& sums) noexcept;

}  // namespace smd::detail::layout
