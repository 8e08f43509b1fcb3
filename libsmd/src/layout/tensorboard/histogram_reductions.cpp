// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/histogram_reductions.hpp"

#include <cmath>
#include <limits>

namespace smd::detail::layout {

namespace {

std::optional<double> variance_of(const wire::HistogramSums& sums) noexcept {
  if (sums.min == sums.max && std::isfinite(sums.min)) {
    return 0.0;
  }
  if (!std::isfinite(sums.sum) || !std::isfinite(sums.sum_squares)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double mean = sums.sum / sums.num;
  const double mean_square = sums.sum_squares / sums.num;
  const double variance = mean_square - mean * mean;
  constexpr double rounding = 1e-14;
  return variance < rounding * mean_square ? std::nullopt : std::optional(variance);
}

}  // namespace

HistogramReductions reductions_of(const wire::HistogramSums& sums) noexcept {
  if (!(sums.num > 0)) {
    return {};
  }
  const std::optional<double> variance = variance_of(sums);
  return {sums.min,
          sums.max,
          sums.sum,
          sums.sum / sums.num,
          std::sqrt(sums.sum_squares),
          variance,
          variance ? std::optional(std::sqrt(*variance)) : std::nullopt,
          sums.num};
}

}  // namespace smd::detail::layout
