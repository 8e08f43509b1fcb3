// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "wire/summary.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace smd::detail::wire {

/// A HistogramProto. `counts[i]` counts elements from `limits[i - 1]` to below `limits[i]`.
struct HistogramBuckets {
  HistogramSums sums;
  std::vector<double> limits;
  std::vector<double> counts;
};

/// Returns a problem if there are not as many limits as counts. @throws protozero::exception, std::bad_alloc
[[nodiscard]] Outcome<HistogramBuckets> scan_histogram(std::span<const std::byte> histogram_proto);

struct HistogramBucket {
  double left = 0;
  double right = 0;
  double count = 0;
};

/// Returns the buckets from the first to the last that is not empty, as TensorBoard converts them: the least element is
/// the left edge of the first, the greatest one the right edge of the last. PyTorch begins with an empty bucket, for
/// its limit only; TensorFlow's last one ends at the greatest double. [tensorboard/data_compat.py]
[[nodiscard]] std::vector<HistogramBucket> edges_of(const HistogramBuckets& histogram);

}  // namespace smd::detail::wire
