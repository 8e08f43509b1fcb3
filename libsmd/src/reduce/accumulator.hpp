// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/reduction.hpp>

#include "reduce/block_moments.hpp"
#include "reduce/exact_sum.hpp"
#include "reduce/groups.hpp"
#include "reduce/int128.hpp"
#include "reduce/kept_elements.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace smd::detail::reduce {

struct BlockRange;

/// A product in twice double's precision with an unbounded exponent, so that intermediate overflow and underflow lose
/// nothing.
struct Product {
  DoubleDouble mantissa{1, 0};  ///< |mantissa| is in 1 … 2, or 0 (with its sign) if a factor was 0.
  std::int64_t exponent = 0;

  /// Precondition: `factor` is finite.
  void multiply_by(DoubleDouble factor, std::int64_t power) noexcept {
    if (mantissa.hi == 0 || factor.hi == 0) {
      mantissa = {mantissa.hi * factor.hi, 0};  // keeps the sign, which a sum of parts would lose
      exponent = 0;
      return;
    }
    exponent += power + normalise(factor);
    mantissa = multiply(mantissa, factor);
    exponent += normalise(mantissa);
  }
  /// Multiplies by 0: from here on only signs matter.
  void multiply_by_zero(bool negative) noexcept {
    mantissa = {std::copysign(0.0, mantissa.hi) * (negative ? -1.0 : 1.0), 0};
    exponent = 0;
  }
  void merge(const Product& other) noexcept { multiply_by(other.mantissa, other.exponent); }

  [[nodiscard]] double value() const noexcept {
    // hi is already rounded to 53 bits; below 2^-1022 the low part changes the result by less than 2 units.
    return std::ldexp(mantissa.hi, static_cast<int>(std::clamp<std::int64_t>(exponent, -5000, 5000)));
  }

 private:
  // Scales |number|, which is not 0, to 1 … 2 and returns the exponent that was removed.
  static int normalise(DoubleDouble& number) noexcept {
    int exponent_above;
    const double fraction = std::frexp(number.hi, &exponent_above);
    number = quick_two_sum(2 * fraction, std::ldexp(number.lo, 1 - exponent_above));
    return exponent_above - 1;
  }
};

/// Number of elements, or of parts of complex elements, that are not finite.
struct Specials {
  std::uint64_t nan = 0;
  std::uint64_t posinf = 0;
  std::uint64_t neginf = 0;

  [[nodiscard]] std::uint64_t all() const noexcept { return nan + posinf + neginf; }
  void add(double value) noexcept;
  void merge(const Specials& other) noexcept;
};

/// All that is known of the elements added so far. Finite elements enter the statistics; others are only counted, and
/// their effect on a result is determined at the end.
class Accumulator {
 public:
  Accumulator(const Groups& groups, NanPolicy policy) noexcept : groups_(groups), policy_(policy) {}

  /// @param source `n` whole elements of a storage type (not a quantised type, not string).
  void add(Dtype type, const std::byte* source, std::size_t n);
  void merge(const Accumulator& other);
  /// As above, but moves the kept elements.
  void merge(Accumulator&& other);
  /// Resets to the initial state; keeps some of the memory for kept elements.
  void clear() noexcept;

  Groups groups_;
  NanPolicy policy_;
  std::uint64_t count_ = 0;
  Specials specials_;  ///< Of complex elements: nan if a part is NaN, otherwise posinf if a part is infinite.
  std::uint64_t zero_ = 0;
  std::uint64_t negative_ = 0;
  bool integers_ = true;
  bool complex_ = false;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  double abs_min_ = std::numeric_limits<double>::infinity();
  Int128 min_integer_ = 0;  ///< Exact minimum and maximum, if integers_ and count_ is not 0.
  Int128 max_integer_ = 0;
  Int128 abs_min_integer_ = 0;  ///< As min_integer_.
  Int128 sum_integer_ = 0;      ///< Sum of the elements of integer type.
  Int128 abs_sum_integer_ = 0;
  ExactSum sum_;  ///< Sum of all other elements.
  DoubleDouble abs_sum_;
  Moments moments_;
  Moments abs_moments_;
  Product product_;
  bool negative_infinities_odd_ = false;

  // Complex numbers: the fields above hold the real parts.
  Specials real_specials_;
  Specials imaginary_specials_;
  ExactSum imaginary_sum_;
  Moments imaginary_moments_;

  KeptForPercentiles kept_;

 private:
  void merge_statistics(const Accumulator& other);
  void add_block(Dtype type, const std::byte* source, std::size_t n);
  void add_float8(Dtype type, const std::byte* source, std::size_t n);
  bool guess_range(Dtype type, const std::byte* source);
  bool add_stream(Dtype type, const std::byte* source, std::size_t n);
  bool add_wide_stream(Dtype type, const std::byte* source, std::size_t n);
  void add_stream_product(Dtype type, const std::byte* source, std::size_t n, const BlockRange& range);
  void add_moments(const BlockStatistics& statistics);
  void add_bytes(Dtype type, const std::byte* source, std::size_t n);
  void add_floats(Precision precision, const double* values, std::size_t n, const BlockRange& range);
  void add_integers(const double* values, std::size_t n, const BlockRange& range);
  void add_wide_integers(bool is_signed, const std::byte* source, std::size_t n);
  void add_complex(Dtype type, const std::byte* source, std::size_t n);
  void add_specials(const double* values, std::size_t n, double* finite, std::size_t& left);
  void add_order(const double* values, std::size_t n, const BlockRange& range);
  void add_extremes(const BlockRange& range, const std::byte* source, std::size_t n, std::size_t item);
  void add_integer_order(Int128 min, Int128 max, Int128 abs_min);
  void merge_moments(const Moments& moments, Int128 sum, const Moments& abs_moments, Int128 abs_sum);
  void add_product(const double* values, std::size_t n, const BlockRange& range);

  StreamGuess guess_;
};

}  // namespace smd::detail::reduce
