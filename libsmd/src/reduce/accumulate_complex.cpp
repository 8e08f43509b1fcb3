// SPDX-License-Identifier: Apache-2.0
#include "reduce/accumulator.hpp"
#include "reduce/block_moments.hpp"
#include "reduce/doubles.hpp"
#include "reduce/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace smd::detail::reduce {

void Accumulator::add_complex(Dtype type, const std::byte* source, std::size_t n) {
  alignas(64) double real[block_size + block_padding] = {};
  alignas(64) double imaginary[block_size + block_padding] = {};
  alignas(64) double modulus[block_size + block_padding] = {};
  to_parts(type, source, n, real, imaginary);
  std::size_t left = 0;  // finite elements, which are moved together
  for (std::size_t i = 0; i < n; ++i) {
    const double re = real[i];
    const double im = imaginary[i];
    if (re == 0 && im == 0) {
      zero_ += groups_.signs ? 1 : 0;
    }
    if (std::isfinite(re) && std::isfinite(im)) {
      real[left] = re;
      imaginary[left] = im;
      modulus[left] = std::hypot(re, im);
      if (std::isfinite(modulus[left])) {
        ++left;
        continue;
      }
      // Finite parts with an infinite modulus: too large for sums of |x|, but not for the other reductions. All treat
      // it as infinite.
    }
    const bool nan = std::isnan(re) || std::isnan(im);
    specials_.add(nan ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity());
    if (nan && policy_ == NanPolicy::omit) {
      continue;
    }
    // The parts are summed separately: a NaN or infinite real part does not affect the imaginary sum.
    if (std::isfinite(re)) {
      sum_.add(re);
    } else {
      real_specials_.add(re);
    }
    if (std::isfinite(im)) {
      imaginary_sum_.add(im);
    } else {
      imaginary_specials_.add(im);
    }
  }
  if (left == 0) {
    return;
  }
  std::fill(real + left, real + std::min(left + block_padding, block_size + block_padding), 0.0);
  std::fill(imaginary + left, imaginary + std::min(left + block_padding, block_size + block_padding), 0.0);
  std::fill(modulus + left, modulus + std::min(left + block_padding, block_size + block_padding), 0.0);
  const auto moments_of = [&](const double* values, ExactSum& sum) {
    const BlockRange range = kernels().range(values, left);
    const double largest = std::max(std::fabs(range.min), std::fabs(range.max));
    Grain grain;
    if (largest > 0) {
      grain = {std::max(exponent_above(range.smallest) - 53, -1074), exponent_above(largest)};
    }
    return block_statistics(values, left, range, grain, groups_, &sum).moments;
  };
  const Moments re = moments_of(real, sum_);
  const Moments im = moments_of(imaginary, imaginary_sum_);
  ExactSum unused;
  const Moments sizes = moments_of(modulus, unused);
  if (groups_.moments) {
    moments_.merge(re);
    imaginary_moments_.merge(im);
  }
  if (groups_.magnitudes || groups_.abs_moments) {
    abs_sum_ = reduce::add(abs_sum_, sizes.sum);
  }
  if (groups_.abs_moments) {
    abs_moments_.merge(sizes);
  }
  const BlockRange range = kernels().range(modulus, left);
  min_ = std::min(min_, range.min);  // of |x|: complex numbers have no order
  max_ = std::max(max_, range.max);
  abs_min_ = std::min(abs_min_, range.min);
  if (groups_.product) {
    add_product(modulus, left, range);
  }
}

}  // namespace smd::detail::reduce
