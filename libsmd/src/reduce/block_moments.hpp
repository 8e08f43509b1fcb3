// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/exact_sum.hpp"
#include "reduce/int128.hpp"
#include "reduce/kernels.hpp"

namespace smd::detail::reduce {

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

struct Groups;

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
/// distances are computed only if the groups ask for moments.
/// @param range receives `smallest` and `has_zero` only if the groups ask for the smallest magnitude or the product.
bool stream_statistics(Dtype type, const std::byte* source, std::size_t n, Precision precision, const Groups& groups,
                       StreamGuess& guess, BlockRange& range, BlockStatistics& statistics, ExactSum* exact);

}  // namespace smd::detail::reduce
