// SPDX-License-Identifier: Apache-2.0
#include "histogram.hpp"

#include "rows/buckets.hpp"

#include <array>

namespace smd::tool::tensor {

BinCounts histogram(const Elements& elements, const BinSpec& bins) {
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
