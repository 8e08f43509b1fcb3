// SPDX-License-Identifier: Apache-2.0
#include "reduce/accumulator.hpp"

#include <smd/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace smd::detail::reduce {
namespace {

Groups groups_of(const Reduction& reduction) {
  Groups groups;
  switch (reduction.kind) {
    case ReductionKind::min:
      groups.abs_min = reduction.abs;
      break;
    case ReductionKind::median:
    case ReductionKind::percentile:
      groups.values = true;
      break;
    case ReductionKind::mean:
    case ReductionKind::sum:
      (reduction.abs ? groups.magnitudes : groups.sum) = true;
      break;
    case ReductionKind::std:
    case ReductionKind::variance:
      groups.sum = groups.moments = true;
      groups.magnitudes = groups.abs_moments = reduction.abs;
      break;
    case ReductionKind::l1:
      groups.magnitudes = true;
      break;
    case ReductionKind::l2:
    case ReductionKind::rms:
      groups.sum = groups.moments = true;
      break;
    case ReductionKind::prod:
      groups.product = true;
      break;
    case ReductionKind::zero:
    case ReductionKind::zero_fraction:
      groups.zeros = true;
      break;
    case ReductionKind::negative:
      groups.negatives = true;
      break;
    case ReductionKind::max:
    case ReductionKind::count:
    case ReductionKind::finite:
    case ReductionKind::nan:
    case ReductionKind::inf:
    case ReductionKind::posinf:
    case ReductionKind::neginf:
    case ReductionKind::nan_fraction:
      break;  // always computed
  }
  return groups;
}

/// Precondition: a floating-point type of 16 bits or more.
Precision precision_of(Dtype type) {
  return visit_element_type(type, [type]<class Stored>(std::type_identity<Stored>) -> Precision {
    if constexpr (std::is_same_v<Stored, Half>) {
      return {11, -24};
    } else if constexpr (std::is_same_v<Stored, BFloat16>) {
      return {8, -133};
    } else if constexpr (std::is_floating_point_v<Stored>) {
      using Limits = std::numeric_limits<Stored>;
      return {Limits::digits, Limits::min_exponent - Limits::digits};
    } else {
      refuse_elements(type);
    }
  });
}

bool odd_signs(const double* values, std::size_t n) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bits ^= std::bit_cast<std::uint64_t>(values[i]);
  }
  return (bits >> 63) != 0;
}

// -0.0 is less than +0.0.
double lesser(double a, double b) { return b < a || (b == a && std::signbit(b)) ? b : a; }
double greater(double a, double b) { return b > a || (b == a && !std::signbit(b)) ? b : a; }

struct Signs {
  bool negative = false;  // some element is negative
  bool positive = false;  // some element is not
};

// Signs of `n` floating-point elements of any size.
Signs signs_of(const std::byte* source, std::size_t n, std::size_t item) {
  Signs signs;
  const std::size_t bytes = n * item;
  const std::size_t most = bytes - bytes % 64;
  if (most > 0) {
    std::uint64_t any = 0;
    std::uint64_t all = 0;
    kernels().bits(source, most, any, all);
    const std::uint64_t sign = item == 2   ? 0x8000800080008000U
                               : item == 4 ? 0x8000000080000000U
                                           : std::uint64_t{1} << 63;
    signs = {(any & sign) != 0, (all & sign) != sign};
  }
  for (std::size_t at = most; at < bytes; at += item) {
    const bool negative = (source[at + item - 1] & std::byte{0x80}) != std::byte{0};
    (negative ? signs.negative : signs.positive) = true;
  }
  return signs;
}

// The smallest |x| of signed 64-bit integers.
Int128 smallest_size(const std::byte* source, std::size_t n) {
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < n; ++i) {
    least = std::min(least, magnitude_of(bits_at(source, i)));
  }
  return static_cast<Int128>(least);
}

/// Returns the smallest |x| of a block.
double smallest_in_block(const double* values, std::size_t n, const BlockRange& range) {
  const bool mixed = range.min < 0 && range.max > 0;
  return mixed ? kernels().smallest_magnitude(values, n) : std::min(std::fabs(range.min), std::fabs(range.max));
}

/// Returns the grain of a block of finite elements.
Grain grain_of(const BlockRange& range, Precision precision) {
  const double largest = std::max(std::fabs(range.min), std::fabs(range.max));
  return largest > 0 ? Grain{std::max(exponent_above(range.smallest) - precision.bits, precision.lowest_exponent),
                             exponent_above(largest)}
                     : Grain{};
}

/// Returns the squared distances from the mean of 64-bit integers, or of their magnitudes, that are too far apart for
/// doubles to hold the distances. With few elements, rounding errors would not average out.
/// @param n at most block_size, so that no sum overflows.
/// @param base not greater than any of them.
DoubleDouble wide_squares(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base) {
  // A distance is high * 2^32 + low, its square high^2 * 2^64 + high * low * 2^33 + low^2.
  Uint128 sum = 0;
  Uint128 high_squares = 0;
  Uint128 products = 0;
  Uint128 low_squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = bits_at(source, i);
    const std::uint64_t distance = (is_signed && magnitude ? magnitude_of(bits) : bits) - base;
    const std::uint64_t high = distance >> 32;
    const std::uint64_t low = distance & 0xFFFFFFFFU;
    sum += distance;
    high_squares += high * high;
    products += high * low;
    low_squares += low * low;
  }
  const auto pair = [](Uint128 value) { return to_pair(static_cast<Int128>(value)); };
  const DoubleDouble squares =
      add(add(scale(pair(high_squares), 0x1p64), scale(pair(products), 0x1p33)), pair(low_squares));
  return centred(squares, pair(sum), n);
}

static_assert(stream_size == 2 * block_size);

void add_part(double part, ExactSum& sum, Specials& specials) {
  if (std::isfinite(part)) {
    sum.add(part);
  } else {
    specials.add(part);
  }
}

}  // namespace

Groups both(const Groups& a, const Groups& b) {
  return {a.sum || b.sum,         a.moments || b.moments, a.magnitudes || b.magnitudes, a.abs_moments || b.abs_moments,
          a.abs_min || b.abs_min, a.product || b.product, a.zeros || b.zeros,           a.negatives || b.negatives,
          a.values || b.values};
}

Groups groups_of(std::span<const Reduction> wanted) {
  Groups groups;
  for (const Reduction& reduction : wanted) {
    const bool percent_fits = reduction.percent >= 0 && reduction.percent <= 100;
    if (!percent_fits || (reduction.abs && !facts_of(reduction.kind).abs)) {
      throw InvalidArgument("no such reduction: " + to_string(reduction));
    }
    groups = both(groups, groups_of(reduction));
  }
  return groups;
}

void Specials::add(double value) noexcept { ++(std::isnan(value) ? nan : value > 0 ? posinf : neginf); }

void Specials::merge(const Specials& other) noexcept {
  nan += other.nan;
  posinf += other.posinf;
  neginf += other.neginf;
}

void Accumulator::clear() noexcept {
  static_cast<Totals&>(*this) = Totals();
  sum_.clear();  // which know whether they have anything to clear
  imaginary_sum_.clear();
  kept_.clear();
  guess_ = {};
}

void Accumulator::add(Dtype type, const std::byte* source, std::size_t n) {
  if (is_floating(type) && item_size(type) == 1) {
    add_float8(type, source, n);
    return;
  }
  // First, because it may run out of memory: then nothing has changed.
  if (n > 0 && groups_.values) {
    if (is_complex(type)) {
      keep_moduli(type, source, n);
    } else {
      kept_.append(type, source, n);
    }
  }
  // Also if n is 0: the sum of no floats is the real number 0.
  integers_ = integers_ && !is_floating(type) && !is_complex(type);
  complex_ = complex_ || is_complex(type);
  if (n == 0) {
    return;
  }
  const std::size_t item = item_size(type);
  std::size_t start = 0;
  const bool sums = groups_.any_sum();
  const bool others = groups_.signs() || groups_.product || groups_.abs_min;
  const bool wide = type == Dtype::int64 || type == Dtype::uint64;
  // Long runs can be streamed once the range can be guessed. A stream always computes sums and squares, which still
  // costs less than decoding a block first; doubles need no decoding. The extremes of 16-bit floats need none either.
  const bool streamed =
      is_floating(type) ? sums || item == 2 || (others && type != Dtype::float64) : wide && sums && !others;
  if (streamed && n >= block_size + stream_size) {
    if (!guess_.known && !guess_range(type, source)) {
      add_block(type, source, block_size);
      start = block_size;
    }
    const std::size_t long_size = long_stream_size_of(type);
    std::size_t long_from = 0;   // where long parts may be tried again
    std::size_t short_from = 0;  // where any part may be tried again
    int misses = 0;              // short parts that failed in a row
    while (start + stream_size <= n) {
      const bool fits = start >= long_from && n - start >= long_size;
      const std::size_t size = fits ? long_size : stream_size;
      const std::byte* const from = source + start * item;
      const bool tried = start >= short_from;
      if (tried && (wide ? add_wide_stream(type, from, size) : add_stream(type, from, size))) {
        start += size;
        misses = 0;
      } else if (tried && size > stream_size) {
        long_from = start + long_size;
      } else {
        add_block(type, from, block_size);
        add_block(type, from + block_size * item, block_size);
        start += stream_size;
        // Data that are unfit for streaming usually stay so for a while.
        if (tried && ++misses == 2) {
          misses = 0;
          short_from = start + longest_stream_size;
        }
      }
    }
  }
  if (sums && !others && item == 1) {
    for (std::size_t size = 0; start + stream_size <= n; start += size) {
      size = n - start >= long_stream_size ? long_stream_size : stream_size;
      add_bytes(type, source + start, size);
    }
  }
  for (; start < n; start += block_size) {
    add_block(type, source + start * item, std::min(block_size, n - start));
  }
}

// If memory runs out, it changes nothing.
void Accumulator::keep_moduli(Dtype type, const std::byte* source, std::size_t n) {
  KeptElements<double> moduli;
  for (std::size_t start = 0; start < n; start += block_size) {
    alignas(64) double real[block_size + block_padding];
    alignas(64) double imaginary[block_size + block_padding];
    const std::size_t size = std::min(block_size, n - start);
    to_parts(type, source + start * item_size(type), size, real, imaginary);
    for (std::size_t i = 0; i < size; ++i) {
      // A NaN beside an infinite part is NaN, as in the counts; std::hypot would return infinity.
      real[i] = std::isnan(imaginary[i]) || std::isnan(real[i]) ? std::numeric_limits<double>::quiet_NaN()
                                                                : std::hypot(real[i], imaginary[i]);
    }
    moduli.append(Dtype::float64, reinterpret_cast<const std::byte*>(real), size);
  }
  kept_.wide.append(std::move(moduli));
}

// Decodes to bfloat16, which represents every float8 value.
void Accumulator::add_float8(Dtype type, const std::byte* source, std::size_t n) {
  constexpr std::size_t part = 2 * stream_size;
  alignas(64) std::uint16_t wide[part];
  std::size_t done = 0;
  do {
    const std::size_t size = std::min(n - done, part);
    widen_float8(type, source + done, size, wide);
    add(Dtype::bfloat16, reinterpret_cast<const std::byte*>(wide), size);
    done += size;
  } while (done < n);
}

// Guesses from the first elements. Returns false if they say nothing about the range.
bool Accumulator::guess_range(Dtype type, const std::byte* source) {
  constexpr std::size_t some = block_size / 4;
  double largest = 0;
  if (type == Dtype::int64 || type == Dtype::uint64) {
    IntegerRange bits;
    kernels().integer_range(type == Dtype::int64, source, some, bits);
    largest = static_cast<double>(
        std::max(-integer_from(type == Dtype::int64, bits.min), integer_from(type == Dtype::int64, bits.max)));
  } else {
    alignas(64) double values[some + block_padding];
    BlockRange range;
    kernels().decode(type, source, some, values, range);
    if (!range.finite) {
      return false;
    }
    largest = std::max(std::fabs(range.min), std::fabs(range.max));
  }
  guess_.see(largest);
  return guess_.known;
}

bool Accumulator::add_stream(Dtype type, const std::byte* source, std::size_t n) {
  BlockRange range;
  BlockStatistics statistics;
  if (!stream_statistics(type, source, n, precision_of(type), groups_, guess_, range, statistics, &sum_)) {
    return false;
  }
  count_ += n;
  add_extremes(range, source, n, item_size(type));
  if (groups_.abs_min) {
    abs_min_ = std::min(abs_min_, range.has_zero ? 0 : range.smallest);
  }
  if (groups_.negatives || (groups_.zeros && range.has_zero)) {
    kernels().stream_signs(type, source, n, zero_, negative_);
  }
  if (groups_.product) {
    add_stream_product(type, source, n, range);
  }
  abs_sum_ = reduce::add(abs_sum_, statistics.abs_moments.sum);
  add_moments(statistics);
  return true;
}

bool Accumulator::add_wide_stream(Dtype type, const std::byte* source, std::size_t n) {
  BlockRange range;
  BlockStatistics statistics;
  if (!stream_statistics(type, source, n, {53, 0}, groups_, guess_, range, statistics, nullptr)) {
    return false;
  }
  count_ += n;
  add_integer_order(static_cast<Int128>(range.min), static_cast<Int128>(range.max), 0);
  const auto whole = [](DoubleDouble sum) { return static_cast<Int128>(sum.hi) + static_cast<Int128>(sum.lo); };
  merge_moments(groups_.moments ? statistics.moments : Moments(), whole(statistics.moments.sum),
                groups_.abs_moments ? statistics.abs_moments : Moments(), whole(statistics.abs_moments.sum));
  return true;
}

void Accumulator::add_moments(const BlockStatistics& statistics) {
  if (groups_.moments) {
    moments_.merge(statistics.moments);
  }
  if (groups_.abs_moments) {
    abs_moments_.merge(statistics.abs_moments);
  }
}

// Also merges the exact sums of integers. If there are floats too, their sum is kept elsewhere.
void Accumulator::merge_moments(const Moments& moments, Int128 sum, const Moments& abs_moments, Int128 abs_sum) {
  if (integers_) {
    merge_integers(moments_, sum_integer_, moments, sum);
    merge_integers(abs_moments_, abs_sum_integer_, abs_moments, abs_sum);
  } else {
    moments_.merge(moments);
    abs_moments_.merge(abs_moments);
  }
  sum_integer_ += sum;
  abs_sum_integer_ += abs_sum;
}

void Accumulator::add_stream_product(Dtype type, const std::byte* source, std::size_t n, const BlockRange& range) {
  if (!range.has_zero && product_.mantissa.hi != 0) {
    const double largest = std::max(std::fabs(range.min), std::fabs(range.max));
    const int reach = std::max(std::abs(exponent_above(largest)), std::abs(exponent_above(range.smallest) - 1));
    if (reach <= 225) {
      const auto group = static_cast<std::size_t>(450 / std::max(reach, 1));
      product_.multiply_by(kernels().stream_product(type, source, n, group));
      return;
    }
  }
  alignas(64) double values[block_size + block_padding];
  for (std::size_t part = 0; part < n; part += block_size) {
    BlockRange half;
    kernels().decode(type, source + part * item_size(type), block_size, values, half);
    add_product(values, block_size, half);
  }
}

void Accumulator::add_block(Dtype type, const std::byte* source, std::size_t n) {
  count_ += n;
  if (type == Dtype::int64 || type == Dtype::uint64) {
    return add_wide_integers(type == Dtype::int64, source, n);
  }
  if (is_complex(type)) {
    return add_complex(type, source, n);
  }
  alignas(64) double decoded[block_size + block_padding];
  const double* values = decoded;
  BlockRange range;
  const bool aligned = reinterpret_cast<std::uintptr_t>(source) % alignof(double) == 0;
  if (type == Dtype::float64 && n == block_size && aligned) {
    // Whole blocks of doubles are read in place.
    values = reinterpret_cast<const double*>(source);
    range = kernels().range(values, n);
    if (!range.finite) {
      kernels().decode(type, source, n, decoded, range);
      values = decoded;
    }
  } else {
    kernels().decode(type, source, n, decoded, range);
  }
  if (!is_floating(type)) {
    return add_integers(values, n, range);
  }
  std::size_t left = n;
  if (!range.finite) {
    add_specials(values, n, decoded, left);
    if (left == 0) {
      return;
    }
    range = kernels().range(decoded, left);
  }
  add_floats(precision_of(type), values, left, range);
}

// Counts the non-finite elements and moves the others together, in order.
void Accumulator::add_specials(const double* values, std::size_t n, double* finite, std::size_t& left) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double value = values[i];
    if (std::isfinite(value)) {
      finite[kept++] = value;
      continue;
    }
    specials_.add(value);
    if (value < 0) {
      ++negative_;
      negative_infinities_odd_ = !negative_infinities_odd_;
    }
  }
  std::fill(finite + kept, finite + std::min(n, kept + block_padding), 0.0);
  left = kept;
}

void Accumulator::add_extremes(const BlockRange& range, const std::byte* source, std::size_t n, std::size_t item) {
  double min = range.min;
  double max = range.max;
  // Which of two zeros most kernels return is arbitrary; make the minimum -0.0 and the maximum +0.0.
  const bool low_zero = min == 0 && !(min_ < 0) && !range.has_signs;
  const bool high_zero = max == 0 && !(max_ > 0) && !range.has_signs;
  if (low_zero || high_zero) {
    const Signs signs = signs_of(source, n, item);
    min = !low_zero ? min : signs.negative ? -0.0 : 0.0;
    max = !high_zero ? max : signs.positive ? 0.0 : -0.0;
  }
  min_ = lesser(min_, min);
  max_ = greater(max_, max);
}

void Accumulator::add_signs_and_product(const double* values, std::size_t n, const BlockRange& range) {
  if (groups_.signs()) {
    kernels().count_zero_negative(values, n, zero_, negative_);
  }
  if (groups_.product) {
    add_product(values, n, range);
  }
}

void Accumulator::add_floats(Precision precision, const double* values, std::size_t n, const BlockRange& range) {
  add_extremes(range, reinterpret_cast<const std::byte*>(values), n, sizeof(double));
  if (groups_.abs_min && abs_min_ != 0) {
    abs_min_ = std::min(abs_min_, smallest_in_block(values, n, range));
  }
  add_signs_and_product(values, n, range);
  guess_.see(std::max(std::fabs(range.min), std::fabs(range.max)));
  if (!groups_.any_sum()) {
    return;
  }
  const BlockStatistics statistics = block_statistics(values, n, range, grain_of(range, precision), groups_, &sum_);
  abs_sum_ = reduce::add(abs_sum_, statistics.abs_moments.sum);
  add_moments(statistics);
}

void Accumulator::add_integer_order(Int128 min, Int128 max, Int128 abs_min) {
  // The first elements have nothing to be compared with yet.
  const bool first = max_ == -std::numeric_limits<double>::infinity();
  min_integer_ = first ? min : std::min(min, min_integer_);
  max_integer_ = first ? max : std::max(max, max_integer_);
  abs_min_integer_ = first ? abs_min : std::min(abs_min, abs_min_integer_);
  min_ = lesser(min_, static_cast<double>(min));
  max_ = greater(max_, static_cast<double>(max));
  abs_min_ = std::min(abs_min_, static_cast<double>(abs_min));
}

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
  const double abs_min = groups_.abs_min && abs_min_ != 0 ? smallest_in_block(values, n, range) : 0;
  add_integer_order(static_cast<std::int64_t>(range.min), static_cast<std::int64_t>(range.max),
                    static_cast<std::int64_t>(abs_min));
  add_signs_and_product(values, n, range);
  if (!groups_.any_sum()) {
    return;
  }
  const BlockStatistics statistics = block_statistics(values, n, range, grain_of(range, {53, 0}), groups_, nullptr);
  sum_integer_ += static_cast<std::int64_t>(statistics.moments.sum.hi);
  abs_sum_integer_ += static_cast<std::int64_t>(statistics.abs_moments.sum.hi);
  add_moments(statistics);
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
  if (groups_.signs() || groups_.product) {
    round_integers(is_signed, source, n, values);
    add_signs_and_product(values, n, kernel.range(values, n));
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
  constexpr Groups squares{.moments = true};
  const auto distances = [&](bool magnitude, Int128 base, Int128 reach, Int128 total) {
    if (reach - base > Int128{1} << 53) {
      return Moments{n, to_pair(total),
                     wide_squares(is_signed, magnitude, source, n, static_cast<std::uint64_t>(base))};
    }
    kernel.integer_decode(is_signed, magnitude, source, n, static_cast<std::uint64_t>(base), values);
    const BlockRange range = {0, static_cast<double>(reach - base), 1, true};
    Moments block = block_statistics(values, n, range, grain_of(range, {53, 0}), squares, nullptr).moments;
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

void Accumulator::add_complex(Dtype type, const std::byte* source, std::size_t n) {
  alignas(64) double real[block_size + block_padding] = {};
  alignas(64) double imaginary[block_size + block_padding] = {};
  alignas(64) double modulus[block_size + block_padding] = {};
  to_parts(type, source, n, real, imaginary);
  std::size_t left = 0;  // finite elements, which are moved together
  for (std::size_t i = 0; i < n; ++i) {
    const double re = real[i];
    const double im = imaginary[i];
    zero_ += re == 0 && im == 0 && groups_.signs() ? 1 : 0;
    if (std::isfinite(re) && std::isfinite(im)) {
      real[left] = re;
      imaginary[left] = im;
      modulus[left] = std::hypot(re, im);
      if (std::isfinite(modulus[left])) {
        ++left;
        continue;
      }
      // Finite parts with an infinite modulus: too large for sums of |x|, but not for the other reductions. All but the
      // counts treat it as infinite.
      ++beyond_;
    }
    const bool nan = std::isnan(re) || std::isnan(im);
    specials_.add(nan ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity());
    if (nan && omit_nan_) {
      continue;
    }
    // The parts are summed separately: a NaN or infinite real part does not affect the imaginary sum.
    add_part(re, sum_, real_specials_);
    add_part(im, imaginary_sum_, imaginary_specials_);
  }
  if (left == 0) {
    return;
  }
  for (double* const part : {real, imaginary, modulus}) {
    std::fill(part + left, part + std::min(left + block_padding, block_size + block_padding), 0.0);
  }
  const auto moments_of = [&](const double* values, ExactSum& sum) {
    const BlockRange range = kernels().range(values, left);
    return block_statistics(values, left, range, grain_of(range, {53, -1074}), groups_, &sum).moments;
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

void Accumulator::add_product(const double* values, std::size_t n, const BlockRange& range) {
  const bool has_zero = range.min <= 0 && range.max >= 0 && kernels().smallest_magnitude(values, n) == 0;
  if (has_zero || product_.mantissa.hi == 0) {
    product_.multiply_by({odd_signs(values, n) ? -0.0 : 0.0, 0}, 0);  // from here on only signs matter
    return;
  }
  const double largest = std::max(std::fabs(range.min), std::fabs(range.max));
  const double smallest = std::min(std::fabs(range.min), std::fabs(range.max));
  const int reach =
      std::max(std::abs(exponent_above(largest)), std::abs(exponent_above(std::min(smallest, range.smallest)) - 1));
  if (reach > 450) {
    for (std::size_t i = 0; i < n; ++i) {
      product_.multiply_by({values[i], 0}, 0);
    }
    return;
  }
  product_.multiply_by(kernels().product(values, n, static_cast<std::size_t>(900 / std::max(reach, 1))));
}

void Accumulator::merge(Accumulator&& other) {
  kept_.append(std::move(other.kept_));  // first: if memory runs out, nothing has changed
  if (other.count_ != 0 && integers_ && other.integers_) {
    add_integer_order(other.min_integer_, other.max_integer_, other.abs_min_integer_);
  }
  count_ += other.count_;
  specials_.merge(other.specials_);
  beyond_ += other.beyond_;
  zero_ += other.zero_;
  negative_ += other.negative_;
  integers_ = integers_ && other.integers_;
  complex_ = complex_ || other.complex_;
  min_ = lesser(min_, other.min_);
  max_ = greater(max_, other.max_);
  abs_min_ = std::min(abs_min_, other.abs_min_);
  sum_.add(other.sum_);
  abs_sum_ = reduce::add(abs_sum_, other.abs_sum_);
  merge_moments(other.moments_, other.sum_integer_, other.abs_moments_, other.abs_sum_integer_);
  product_.merge(other.product_);
  negative_infinities_odd_ = negative_infinities_odd_ != other.negative_infinities_odd_;
  real_specials_.merge(other.real_specials_);
  imaginary_specials_.merge(other.imaginary_specials_);
  imaginary_sum_.add(other.imaginary_sum_);
  imaginary_moments_.merge(other.imaginary_moments_);
  other.clear();
}

}  // namespace smd::detail::reduce
