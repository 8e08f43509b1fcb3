// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/doubles.hpp"
#include "reduce/elements.hpp"
#include "reduce/exact_sum.hpp"
#include "reduce/kernels.hpp"

#include <smd/dtype.hpp>
#include <smd/reduction.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace smd::detail::reduce {

/// Which groups of statistics to compute. Minimum, maximum and the counts of special elements are always computed.
struct Groups {
  bool sum = false;          ///< Exact sum.
  bool moments = false;      ///< Sum and squared distances from the mean.
  bool magnitudes = false;   ///< Sum of |x|.
  bool abs_moments = false;  ///< Squared distances of |x| from its mean.
  bool abs_min = false;
  bool product = false;
  bool zeros = false;      ///< Number of zero elements.
  bool negatives = false;  ///< Number of negative elements.
  bool values = false;     ///< Keep the elements, or |x| of complex ones.

  bool operator==(const Groups&) const = default;
  [[nodiscard]] bool any_sum() const noexcept { return sum || moments || magnitudes; }
  [[nodiscard]] bool signs() const noexcept { return zeros || negatives; }
};

[[nodiscard]] Groups both(const Groups& a, const Groups& b);
/// Returns the groups that these reductions need.
/// @throws InvalidArgument if a reduction does not exist.
[[nodiscard]] Groups groups_of(std::span<const Reduction> wanted);

/// Returns the sum of squared distances of `n` numbers from their mean, computed from their sum and the sum of their
/// squares, both accurate to 2^-90 or better.
inline DoubleDouble centred(DoubleDouble squares, DoubleDouble sum, std::uint64_t n) noexcept {
  const DoubleDouble rest = add(squares, negate(divide(multiply(sum, sum), static_cast<double>(n))));
  return rest.hi > 0 ? rest : DoubleDouble{};
}

/// Count, sum, and sum of squared distances from the mean.
struct Moments {
  std::uint64_t n = 0;
  DoubleDouble sum;
  DoubleDouble squares;

  /// Chan, Golub, LeVeque, 1979: the distance of the two means adds d^2 * na * nb / (na + nb).
  void merge(const Moments& other) noexcept {
    if (other.n == 0) {
      return;
    }
    if (n == 0) {
      *this = other;
      return;
    }
    const auto na = static_cast<double>(n);
    const auto nb = static_cast<double>(other.n);
    DoubleDouble distance;
    if (n == other.n) {
      // Parts of equal size: (b - a)^2 / (2 n), one division instead of four.
      distance = add(other.sum, negate(sum));
      squares = add(squares, divide(multiply(distance, distance), 2 * na));
    } else {
      distance = add(divide(other.sum, nb), negate(divide(sum, na)));
      const DoubleDouble weight = divide(two_product(na, nb), na + nb);
      squares = add(squares, multiply(multiply(distance, distance), weight));
    }
    squares = add(squares, other.squares);
    sum = add(sum, other.sum);
    n += other.n;
  }

  /// Returns the sum of the squares of the elements. Nothing cancels: both terms are positive.
  [[nodiscard]] DoubleDouble square_sum() const noexcept {
    return n == 0 ? DoubleDouble{} : add(squares, divide(multiply(sum, sum), static_cast<double>(n)));
  }
};

/// Moments::merge for integers whose sums are known exactly. 64-bit integers may be so close together, relative to
/// their size, that even 106 bits of their means are too few for the distance between the means. So the means are
/// taken relative to an integer near them.
inline void merge_integers(Moments& into, Int128 sum, const Moments& other, Int128 other_sum) noexcept {
  if (into.n == 0 || other.n == 0) {
    into.merge(other);
    return;
  }
  const Int128 near = sum / static_cast<Int128>(into.n);
  const auto from_near = [near](const Moments& moments, Int128 total) {
    return Moments{moments.n, to_pair(total - near * static_cast<Int128>(moments.n)), moments.squares};
  };
  Moments both = from_near(into, sum);
  both.merge(from_near(other, other_sum));
  both.sum = to_pair(sum + other_sum);
  into = both;
}

/// Statistics of one block of finite doubles.
struct BlockStatistics {
  Moments moments;      ///< `squares` only if requested.
  Moments abs_moments;  ///< `squares` only if requested.
};

/// The precision of a type: its significant bits, and the exponent of its smallest number.
struct Precision {
  int bits;
  int lowest_exponent;
};

/// The grain of a block: every element is a multiple of 2^unit and less than 2^top in magnitude.
struct Grain {
  int unit = 0;
  int top = 0;
};

/// Computes sums, and squared distances from the block's own mean. If `exact` is not null, the sum is added to it
/// without error; otherwise the two parts of `moments.sum` hold it to about 106 bits.
/// @param values followed by zeros in the padding.
BlockStatistics block_statistics(const double* values, std::size_t n, const BlockRange& range, Grain grain,
                                 const Groups& groups, ExactSum* exact);

/// What earlier blocks suggest about the next one.
struct StreamGuess {
  bool known = false;    ///< There was an earlier block.
  int top = 0;           ///< Every |x| is below 2^top, or not much above.
  bool cancels = false;  ///< The mean is large compared with the spread.
  bool grows = false;    ///< Sums of integers are too large to do without a bias.

  /// Learns from the largest |x| of some elements. If all are zero, it learns nothing.
  void see(double largest) noexcept {
    if (largest > 0) {
      known = true;
      top = exponent_above(largest);
    }
  }
};

/// Computes the same as block_statistics in one pass over `n` elements (stream_size or long_stream_size_of the type)
/// of floating point or 64-bit integers, based on a guess. Returns false, and changes nothing but the guess, if the
/// guess was wrong or the data are otherwise unfit. For integers the two parts of a sum together are exact. Squared
/// distances are computed only if the groups ask for moments. Benchmark: reduce_micro.cpp.
/// @param range receives `smallest` and `has_zero` only if the groups ask for the smallest magnitude or the product.
bool stream_statistics(Dtype type, const std::byte* source, std::size_t n, Precision precision, const Groups& groups,
                       StreamGuess& guess, BlockRange& range, BlockStatistics& statistics, ExactSum* exact);

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
  void multiply_by(const ScaledProduct& factor) noexcept {
    multiply_by(quick_two_sum(factor.high, factor.low), factor.exponent);
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

/// What is known of some elements, but for their exact sums.
struct Totals {
  std::uint64_t count_ = 0;
  Specials specials_ = {};    ///< Of complex elements: nan if a part is NaN, otherwise posinf if |x| is infinite.
  std::uint64_t beyond_ = 0;  ///< Of these: complex elements with finite parts, whose |x| is beyond double's range.
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
  DoubleDouble abs_sum_ = {};
  Moments moments_ = {};
  Moments abs_moments_ = {};
  Product product_ = {};
  bool negative_infinities_odd_ = false;

  // Of complex numbers: the fields above hold the real parts.
  Specials real_specials_ = {};
  Specials imaginary_specials_ = {};
  Moments imaginary_moments_ = {};
};

/// All that is known of the elements added so far. Finite elements enter the statistics; others are only counted, and
/// their effect on a result is determined at the end.
class Accumulator : public Totals {
 public:
  Accumulator(const Groups& groups, bool omit_nan) noexcept : groups_(groups), omit_nan_(omit_nan) {}

  /// @param source `n` whole elements of a storage type (not a quantised type, not string).
  void add(Dtype type, const std::byte* source, std::size_t n);
  /// Moves the kept elements; `other` is then as after `clear`.
  void merge(Accumulator&& other);
  /// Resets to the initial state; keeps some of the memory for kept elements.
  void clear() noexcept;

  Groups groups_;
  bool omit_nan_;
  ExactSum sum_;            ///< Sum of all elements that are not integers; of complex ones, of the real parts.
  ExactSum imaginary_sum_;  ///< Of complex numbers.
  KeptForPercentiles kept_;

 private:
  void add_block(Dtype type, const std::byte* source, std::size_t n);
  void keep_moduli(Dtype type, const std::byte* source, std::size_t n);
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
  void add_extremes(const BlockRange& range, const std::byte* source, std::size_t n, std::size_t item);
  void add_integer_order(Int128 min, Int128 max, Int128 abs_min);
  void merge_moments(const Moments& moments, Int128 sum, const Moments& abs_moments, Int128 abs_sum);
  void add_product(const double* values, std::size_t n, const BlockRange& range);
  void add_signs_and_product(const double* values, std::size_t n, const BlockRange& range);

  StreamGuess guess_;
};

}  // namespace smd::detail::reduce
