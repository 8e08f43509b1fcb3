// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/reduction.hpp>

#include "reduce/accumulator.hpp"
#include "reduce/percentiles.hpp"

#include <cstdint>

namespace smd::detail::reduce {

/// Returns the percentage of a reduction that needs the values; 50 for the median.
[[nodiscard]] double percent_of(const Reduction& reduction);

/// Returns the result of a reduction over what an accumulator holds. `in_place` computes percentiles if the elements
/// were not copied; otherwise it is null.
[[nodiscard]] ReducedValue answer(const Accumulator& data, const Reduction& reduction, std::uint64_t ddof,
                                  Percentiles* in_place = nullptr);

}  // namespace smd::detail::reduce
