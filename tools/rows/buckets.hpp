// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>

#include <optional>
#include <vector>

#include "draw/bins.hpp"
#include "draw/chart.hpp"
#include "rows/histogram.hpp"

namespace smd::tool {

/// Counts of elements between edges. A part of a bucket counts as its share of the bucket's width.
struct BucketCounts {
  std::vector<double> edges;  ///< One more than counts; ascending.
  std::vector<double> counts;
  double outside = 0;  ///< Elements below the first edge, above the last, or in a bucket without finite edges.
};

/// The saved buckets that have finite edges; a gap between two of them is an empty bucket. Nullopt if the edges do not
/// ascend, or the value does not hold buckets.
[[nodiscard]] std::optional<BucketCounts> counts_of_buckets(const TensorView& buckets);

/// A histogram without elements: between the bounds that are given; else between the least and the greatest element
/// seen, 0 and 1 if there is none.
[[nodiscard]] Histogram empty_histogram(const BinSpec& bins, const AxisRange& seen);

/// The histogram of a view's elements, without bounds from the least to the greatest finite one. Precondition:
/// `is_real`.
[[nodiscard]] Histogram histogram_of(const TensorView& view, const BinSpec& bins);

/// Adds the elements in `buckets` to counts between other edges, as if they were spread evenly within each bucket. The
/// elements of a bucket without width are at its edge; bins are closed to the left, the last one on both sides.
void add_buckets(BucketCounts& to, const BucketCounts& buckets);

}  // namespace smd::tool
