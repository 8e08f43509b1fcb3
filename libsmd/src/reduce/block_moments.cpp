// SPDX-License-Identifier: Apache-2.0

#include "reduce/accumulator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace smd::detail::reduce {
namespace {

constexpr int bits_of(std::size_t n) { return static_cast<int>(std::bit_width(n - 1)); }

// An accumulator that starts at 1.5 * 2^k stays in its binade while the sum of 2^bits numbers below 2^top stays within
// 2^(k-1).
double bias_for(int top, int bits) { return 1.5 * power_of_two(std::clamp(top + bits + 1, -1000, 1022)); }

// Returns the exponent e with |x| < 2^e, but no less than where squares would underflow.
int top_of(double magnitude) { return std::max(magnitude > 0 ? exponent_above(magnitude) : -400, -400); }

// For a mean that is large compared with the spread: subtracting it first leaves nothing to cancel.
DoubleDouble centred_after_shift(const double* values, std::size_t n, bool magnitude, double low, double high,
                                 DoubleDouble sum) {
  alignas(64) double shifted[block_size + block_padding];
  const double mean = sum.hi / static_cast<double>(n);
  kernels().shift(values, n, magnitude, mean, shifted);
  const double reach = std::max(std::fabs(high - mean), std::fabs(low - mean));
  if (reach == 0) {
    return {};
  }
  SumPlan plan;
  plan.squares = plan.wide_squares = true;
  plan.sum_bias = bias_for(top_of(reach), bits_of(block_size));
  plan.square_bias = bias_for(2 * top_of(reach), bits_of(block_size));
  BlockSums sums;
  kernels().sums(shifted, n, plan, sums);
  return centred(two_sum(sums.square, sums.square_low), two_sum(sums.sum, sums.sum_low), n);
}

// Sums a few double-doubles. The only error is the rounding of the low parts, about 2^-100 of the largest partial sum.
struct RunningSum {
  double high = 0;
  double low = 0;

  void add(double number, double number_low) noexcept {
    const DoubleDouble next = two_sum(high, number);
    high = next.hi;
    low += next.lo + number_low;
  }
  [[nodiscard]] DoubleDouble total() const noexcept { return two_sum(high, low); }
};

// The remainders that additions to a bias drop, for 2^bits multiples of 2^unit below 2^top, total less than 2^(top + 2
// bits - 52). Their sum is therefore exact too if it spans no more than 53 bits.
bool dropped_sum_is_exact(int top, int bits, int unit) { return top + 2 * bits - 52 - unit <= 53; }

// Returns whether no rounding happened in the sums of `n` elements.
bool sums_are_exact(const BlockRange& range, const BlockSums& sums, std::size_t n, Precision precision,
                    const SumPlan& plan, int top) {
  const int unit = std::max(exponent_above(range.smallest) - precision.bits, precision.lowest_exponent);
  if (plan.sum_bias != 0) {
    return dropped_sum_is_exact(top, bits_of(n), unit);
  }
  // No partial sum exceeds sum |x| <= sqrt(n * sum x^2).
  const double reach = std::sqrt(static_cast<double>(n) * (sums.square + sums.square_low)) * 1.01;
  return exponent_above(reach) - unit <= 53;
}

// Sums x and |x|, element by element, for blocks whose unit is too small for the kernels.
void sum_one_by_one(const double* values, std::size_t n, const Groups& groups, ExactSum& sum,
                    BlockStatistics& statistics) {
  ExactSum block;
  for (std::size_t i = 0; i < n; ++i) {
    block.add(values[i]);
  }
  statistics.moments.sum = block.pair();
  sum.add(block);
  if (groups.magnitudes || groups.abs_moments) {
    ExactSum sizes;
    for (std::size_t i = 0; i < n; ++i) {
      sizes.add(std::fabs(values[i]));
    }
    statistics.abs_moments.sum = sizes.pair();
  }
}

}  // namespace

BlockStatistics block_statistics(const double* values, std::size_t n, const BlockRange& range, Grain grain,
                                 const Groups& groups, ExactSum* exact) {
  const double largest = std::max(std::fabs(range.min), std::fabs(range.max));
  // Beyond these bounds squares overflow double, or lose their low parts to underflow.
  if (groups.moments && (largest > 0x1p400 || (largest < 0x1p-300 && largest > 0))) {
    alignas(64) double scaled[block_size + block_padding];
    const double by = largest > 1 ? 0x1p-600 : 0x1p600;
    for (std::size_t i = 0; i < n; ++i) {
      scaled[i] = values[i] * by;
    }
    std::fill(scaled + n, scaled + n + block_padding / 2, 0.0);
    const BlockRange inner = {range.min * by, range.max * by, range.smallest * by, true};
    const int power = largest > 1 ? 600 : -600;
    const Grain finer = {std::max(grain.unit - power, -1074), grain.top - power};
    // Sums scale back exactly, or overflow as they must; squares beyond double's range are lost, as in NumPy.
    BlockStatistics statistics = block_statistics(scaled, n, inner, finer, groups, nullptr);
    ExactSum sums;
    sum_one_by_one(values, n, groups, exact != nullptr ? *exact : sums, statistics);
    const double back = 1 / by;
    statistics.moments.squares = scale(scale(statistics.moments.squares, back), back);
    statistics.abs_moments.squares = scale(scale(statistics.abs_moments.squares, back), back);
    return statistics;
  }

  constexpr int block_bits = bits_of(block_size);
  BlockStatistics statistics;
  statistics.moments.n = n;
  statistics.abs_moments.n = n;
  SumPlan plan{.magnitudes = groups.magnitudes || groups.abs_moments,
               .squares = groups.moments,
               .wide_squares = grain.top - grain.unit > 26,
               .square_bias = bias_for(2 * top_of(largest), block_bits)};
  const bool direct = grain.top + block_bits - grain.unit <= 53;
  const bool biased = dropped_sum_is_exact(grain.top, block_bits, grain.unit) && grain.top < 1000;
  plan.sum_bias = direct ? 0 : bias_for(std::min(grain.top, 1000), block_bits);
  BlockSums sums;
  if (direct || biased || plan.squares || exact == nullptr) {
    kernels().sums(values, n, plan, sums);
  }
  if (direct || biased || exact == nullptr) {
    statistics.moments.sum = two_sum(sums.sum, sums.sum_low);
    statistics.abs_moments.sum = two_sum(sums.magnitude, sums.magnitude_low);
    if (exact != nullptr) {
      exact->add(sums.sum);
      if (!direct) {
        exact->add(sums.sum_low);
      }
    }
  } else {
    sum_one_by_one(values, n, groups, *exact, statistics);
  }
  if (!groups.moments) {
    return statistics;
  }
  // If this share of the squares is left after the mean is subtracted, the result still has far more than 53 bits.
  constexpr double enough = 0x1p-25;
  const DoubleDouble squares = two_sum(sums.square, sums.square_low);
  statistics.moments.squares = centred(squares, statistics.moments.sum, n);
  if (!(statistics.moments.squares.hi >= enough * squares.hi)) {
    statistics.moments.squares = centred_after_shift(values, n, false, range.min, range.max, statistics.moments.sum);
  }
  if (groups.abs_moments) {
    statistics.abs_moments.squares = centred(squares, statistics.abs_moments.sum, n);
    if (!(statistics.abs_moments.squares.hi >= enough * squares.hi)) {
      const double least = kernels().smallest_magnitude(values, n);
      statistics.abs_moments.squares = centred_after_shift(values, n, true, least, largest, statistics.abs_moments.sum);
    }
  }
  return statistics;
}

bool stream_statistics(Dtype type, const std::byte* source, std::size_t n, Precision precision, const Groups& groups,
                       StreamGuess& guess, BlockRange& range, BlockStatistics& statistics, ExactSum* exact) {
  // Without sums only the extremes count: nothing has to be exact, and the guess is not needed.
  const bool sums_count = groups.any_sum();
  const int guessed_top = guess.top + 1;
  const bool integers = type == Dtype::int64 || type == Dtype::uint64;
  const bool wide = integers || type == Dtype::float64;
  const bool biased = wide && (!integers || guess.grows || guess.top + bits_of(stream_size) > 53);
  // Sums without a bias are certain to be exact only if they are short, or of numbers of few bits.
  const std::size_t each = type == Dtype::float32 || (integers && !biased) ? stream_size : n;
  const int bits = bits_of(each);
  if (integers && (guess.cancels || guessed_top > 54)) {
    return false;
  }
  if (sums_count && (guessed_top < -300 || guessed_top > 400)) {
    return false;
  }
  const bool grouped = !guess.cancels && !wide;
  const SumPlan plan{.magnitudes = groups.magnitudes || groups.abs_moments,
                     .squares = sums_count,
                     .grouped_squares = grouped,
                     .zeros = groups.abs_min || groups.product,
                     .sum_bias = biased ? bias_for(guessed_top, bits) : 0,
                     .square_bias = bias_for(2 * guessed_top + (grouped ? 2 : 0), bits)};
  std::array<BlockSums, longest_stream_size / stream_size> parts;
  std::size_t count = 0;
  RunningSum sum;
  RunningSum magnitude;
  RunningSum squares;
  for (std::size_t at = 0; at < n; at += each) {
    BlockSums& sums = parts[count];
    BlockRange found;
    const std::byte* const from = source + at * item_size(type);
    kernels().stream(type, from, each, plan, found, sums);
    if (!found.finite) {
      return false;
    }
    if (sums_count) {
      const double largest = std::max(std::fabs(found.min), std::fabs(found.max));
      if (largest == 0) {
        return false;
      }
      const int top = exponent_above(largest);
      if (top > guessed_top || top < guessed_top - 3) {
        return false;
      }
      // Integers beyond 2^53 were rounded; unsigned ones may even appear negative.
      if (integers && (top > 53 || (type == Dtype::uint64 && found.min < 0))) {
        return false;
      }
      if (!sums_are_exact(found, sums, each, precision, plan, guessed_top)) {
        guess.grows = integers;
        return false;
      }
    }
    if (count++ == 0) {
      range = found;
    } else {
      range.min = std::min(range.min, found.min);
      range.max = std::max(range.max, found.max);
      range.smallest = std::min(range.smallest, found.smallest);
      range.has_zero = range.has_zero || found.has_zero;
    }
    sum.add(sums.sum, sums.sum_low);
    magnitude.add(sums.magnitude, sums.magnitude_low);
    squares.add(sums.square, sums.square_low);
  }
  // Groups of squares of float32 may be rounded, and all in the same direction if the values repeat. So subtracting
  // the mean must leave most of the squares. For |x| of a normal distribution about 0 it leaves 0.36, of a uniform
  // distribution a quarter. Groups of shorter types are exact.
  const bool rounded = plan.grouped_squares && type == Dtype::float32;
  const DoubleDouble all_squares = squares.total();
  const auto centre = [&](Moments& moments, double enough) {
    moments.squares = centred(all_squares, moments.sum, moments.n);
    return moments.squares.hi >= enough * all_squares.hi;
  };
  statistics = {};
  statistics.moments.n = statistics.abs_moments.n = n;
  statistics.moments.sum = sum.total();
  statistics.abs_moments.sum = magnitude.total();
  const double enough = plan.grouped_squares ? 0x1p-4 : 0x1p-16;
  if ((groups.moments && !centre(statistics.moments, rounded ? 0.5 : enough)) ||
      (groups.abs_moments && !centre(statistics.abs_moments, rounded ? 0.3 : enough))) {
    guess.cancels = true;
    return false;
  }
  guess.see(std::max(std::fabs(range.min), std::fabs(range.max)));
  for (std::size_t i = 0; exact != nullptr && sums_count && i < count; ++i) {
    exact->add(parts[i].sum);
    if (biased) {
      exact->add(parts[i].sum_low);
    }
  }
  return true;
}

}  // namespace smd::detail::reduce
