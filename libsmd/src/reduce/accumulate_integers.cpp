// SPDX-License-Identifier: Apache-2.0
#include "reduce/accumulator.hpp"
#include "reduce/block_moments.hpp"
#include "reduce/doubles.hpp"
#include "reduce/kernels.hpp"
#include "reduce/wide_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace smd::detail::reduce {
namespace {

// The smallest |x| of signed 64-bit integers.
Int128 smallest_size(const std::byte* source, std::size_t n) {
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
    least = std::min(least, magnitude_of(bits));
  }
  return static_cast<Int128>(least);
}

}  // namespace

void Accumulator::add_bytes(Dtype type, const std::byte* source, std::size_t n) {
  ByteSums sums;
  kernels().stream_bytes(type == Dtype::int8, type == Dtype::boolean, source, n, sums);
  count_ += n;
  add_integer_order(sums.min, sums.max, 0);
  sum_integer_ += sums.sum;
  abs_sum_integer_ += sums.magnitude;
  if (!groups_.moments) {
    return;
  }
  // n * squares - sum^2 fits 64 bits, and n is a power of two: nothing is rounded.
  const auto distances = [&sums, n](std::int64_t sum) {
    const auto scaled = static_cast<double>(static_cast<std::int64_t>(n) * sums.square - sum * sum);
    return Moments{n, {static_cast<double>(sum), 0}, {scaled / static_cast<double>(n), 0}};
  };
  moments_.merge(distances(sums.sum));
  if (groups_.abs_moments) {
    abs_moments_.merge(distances(sums.magnitude));
  }
}

// For integers of at most 32 bits: every sum of a block is exact in double.
void Accumulator::add_integers(const double* values, std::size_t n, const BlockRange& range) {
  double abs_min = 0;
  if (groups_.abs_min && abs_min_ != 0) {
    const bool mixed = range.min < 0 && range.max > 0;
    abs_min = mixed ? kernels().smallest_magnitude(values, n) : std::min(std::fabs(range.min), std::fabs(range.max));
  }
  add_integer_order(static_cast<std::int64_t>(range.min), static_cast<std::int64_t>(range.max),
                    static_cast<std::int64_t>(abs_min));
  if (groups_.signs) {
    kernels().count_zero_negative(values, n, zero_, negative_);
  }
  if (groups_.product) {
    add_product(values, n, range);
  }
  if (!groups_.any_sum()) {
    return;
  }
  const double largest = std::max(std::fabs(range.min), std::fabs(range.max));
  const BlockStatistics statistics =
      block_statistics(values, n, range, {0, largest > 0 ? exponent_above(largest) : 0}, groups_, nullptr);
  sum_integer_ += static_cast<std::int64_t>(statistics.moments.sum.hi);
  abs_sum_integer_ += static_cast<std::int64_t>(statistics.abs_moments.sum.hi);
  if (groups_.moments) {
    moments_.merge(statistics.moments);
  }
  if (groups_.abs_moments) {
    abs_moments_.merge(statistics.abs_moments);
  }
}

void Accumulator::add_wide_integers(bool is_signed, const std::byte* source, std::size_t n) {
  const Kernels& kernel = kernels();
  IntegerRange bits;
  kernel.integer_range(is_signed, source, n, bits);
  const Int128 min = integer_from(is_signed, bits.min);
  const Int128 max = integer_from(is_signed, bits.max);
  const bool mixed = min < 0 && max > 0;
  Int128 abs_min = 0;
  if ((groups_.abs_min && abs_min_ != 0) || (groups_.abs_moments && mixed)) {
    abs_min = mixed ? smallest_size(source, n) : (max <= 0 ? -max : min);
  }
  add_integer_order(min, max, abs_min);
  guess_.see(static_cast<double>(std::max(-min, max)));
  alignas(64) double values[block_size + block_padding];
  if (groups_.signs || groups_.product) {
    round_integers(is_signed, source, n, values);
    const BlockRange range = kernel.range(values, n);
    if (groups_.signs) {
      kernel.count_zero_negative(values, n, zero_, negative_);
    }
    if (groups_.product) {
      add_product(values, n, range);
    }
  }
  const bool magnitudes = groups_.magnitudes || groups_.abs_moments;
  if (!groups_.any_sum()) {
    return;
  }
  constexpr Int128 word = Int128{1} << 32;
  std::uint64_t low = 0;
  std::int64_t high = 0;
  kernel.integer_sum(is_signed, false, source, n, low, high);
  const Int128 sum = static_cast<Int128>(low) + high * word;
  Int128 abs_sum = 0;
  if (magnitudes && mixed) {
    kernel.integer_sum(is_signed, true, source, n, low, high);
    abs_sum = static_cast<Int128>(low) + high * word;
  } else if (magnitudes) {
    abs_sum = max <= 0 ? -sum : sum;
  }
  if (!groups_.moments) {
    return merge_moments({}, sum, {}, abs_sum);
  }
  // Distances from the smallest element are exact integers, and exact as doubles unless they are large.
  Groups squares;
  squares.moments = true;
  const auto distances = [&](bool magnitude, Int128 base, Int128 reach, Int128 total) {
    if (reach - base > Int128{1} << 53) {
      return Moments{n, to_pair(total),
                     wide_squares(is_signed, magnitude, source, n, static_cast<std::uint64_t>(base))};
    }
    kernel.integer_decode(is_signed, magnitude, source, n, static_cast<std::uint64_t>(base), values);
    const auto top = static_cast<double>(reach - base);
    const BlockRange range = {0, top, 1, true};
    Moments block =
        block_statistics(values, n, range, {0, top > 0 ? exponent_above(top) : 0}, squares, nullptr).moments;
    block.sum = to_pair(total);
    return block;
  };
  const Moments block = distances(false, min, max, sum);
  Moments abs_block;
  if (groups_.abs_moments) {
    abs_block =
        mixed ? distances(true, abs_min, std::max(-min, max), abs_sum) : Moments{n, to_pair(abs_sum), block.squares};
  }
  merge_moments(block, sum, abs_block, abs_sum);
}

}  // namespace smd::detail::reduce
