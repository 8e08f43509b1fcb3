// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rows/buckets.hpp"
#include "rows/elements.hpp"

namespace smd::tool::tensor {

/// Counts of elements in bins of equal width, as numpy.histogram: each bin holds its lower bound but not its upper,
/// the last one both. In double precision.
struct BinCounts {
  std::vector<double> edges;  ///< One more than bins.
  std::vector<std::uint64_t> counts;
  std::uint64_t nan = 0;      ///< In no bin.
  std::uint64_t inf = 0;      ///< In no bin, even where a bound was given.
  std::uint64_t outside = 0;  ///< Finite, but outside the bounds given.
};

/// Without bounds: from the least to the greatest finite element; if they are equal, 0.5 to each side; if there are
/// none, from 0 to 1. Precondition: `is_real`.
[[nodiscard]] inline BinCounts histogram(const Elements& elements, const BinSpec& bins) {
  constexpr std::array<Reduction, 2> extremes = {{{ReductionKind::min}, {ReductionKind::max}}};
  Reducer reducer(extremes);
  reducer.add(elements.view());
  const PartialReduction all = reducer.partial();
  Histogram counted = empty_histogram(bins, {all.min, all.max});
  counted.add(elements.view());
  BinCounts result{counted.edges(), counted.counts(), all.nan, all.posinf + all.neginf};
  result.outside = counted.below() + counted.above() - result.inf;
  return result;
}

}  // namespace smd::tool::tensor
