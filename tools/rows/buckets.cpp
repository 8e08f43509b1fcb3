// SPDX-License-Identifier: Apache-2.0
#include "rows/buckets.hpp"

#include <smd/elements.hpp>
#include <smd/reduction.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace smd::tool {

std::optional<BucketCounts> counts_of_buckets(const TensorView& buckets) {
  if (buckets.shape().size() != 2 || buckets.shape()[1] != 3 || !is_real(buckets.dtype())) {
    return std::nullopt;
  }
  const std::vector<double> numbers = to_doubles(buckets);
  BucketCounts result;
  for (std::size_t at = 0; at < numbers.size(); at += 3) {
    const double left = numbers[at];
    const double right = numbers[at + 1];
    const double count = numbers[at + 2];
    if (!std::isfinite(left) || !std::isfinite(right)) {
      result.outside += count;
      continue;
    }
    bool overlaps = !result.edges.empty() && left < result.edges.back();
    if (count == 0 && (overlaps || left > right)) {
      continue;  // TensorFlow gives all buckets of equal elements the same edges, and the elements to the last
    }
    if (overlaps && std::ranges::all_of(result.counts, [](double before) { return before == 0; })) {
      result.edges.clear();
      result.counts.clear();
      overlaps = false;
    }
    if (!(left <= right) || !(count >= 0) || overlaps) {
      return std::nullopt;
    }
    if (result.edges.empty()) {
      result.edges.push_back(left);
    } else if (left != result.edges.back()) {
      result.edges.push_back(left);
      result.counts.push_back(0);
    }
    result.edges.push_back(right);
    result.counts.push_back(count);
  }
  return result;
}

Histogram empty_histogram(const BinSpec& bins, const AxisRange& seen) {
  const bool none = seen.empty();
  return {bins.count, bins.low.value_or(none ? 0 : seen.low), bins.high.value_or(none ? 1 : seen.high)};
}

Histogram histogram_of(const TensorView& view, const BinSpec& bins) {
  Reducer reducer(std::array<Reduction, 2>{{{ReductionKind::min}, {ReductionKind::max}}});
  reducer.add(view);
  const PartialReduction all = reducer.partial();
  Histogram counted = empty_histogram(bins, {all.min, all.max});
  counted.add(view);
  return counted;
}

void add_buckets(BucketCounts& to, const BucketCounts& buckets) {
  to.outside += buckets.outside;
  for (std::size_t at = 0; at < buckets.counts.size(); ++at) {
    const double left = buckets.edges[at];
    const double right = buckets.edges[at + 1];
    const double count = buckets.counts[at];
    if (count == 0) {
      continue;
    }
    const auto after = std::ranges::upper_bound(to.edges, left);
    std::size_t bin = after == to.edges.begin() ? 0 : static_cast<std::size_t>(after - to.edges.begin()) - 1;
    if (left == right) {
      const bool outside = left < to.edges.front() || left > to.edges.back();
      (outside ? to.outside : to.counts[std::min(bin, to.counts.size() - 1)]) += count;
      continue;
    }
    // Edges may lie farther apart than the greatest double.
    const double scale = std::isfinite(right - left) ? 1 : 0.5;
    double inside = 0;
    for (; bin < to.counts.size() && to.edges[bin] < right; ++bin) {
      const double part = scale * std::min(right, to.edges[bin + 1]) - scale * std::max(left, to.edges[bin]);
      const double share = std::min(part / (scale * right - scale * left), 1.0);
      to.counts[bin] += count * share;
      inside += share;
    }
    // For a bucket within the bounds, the rest is only rounding.
    if (left < to.edges.front() || right > to.edges.back()) {
      to.outside += count * std::max(0.0, 1 - inside);
    }
  }
}

}  // namespace smd::tool
