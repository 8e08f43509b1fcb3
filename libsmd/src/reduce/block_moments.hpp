// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/exact_sum.hpp"
#include "reduce/kernels.hpp"
#include "reduce/moments.hpp"

namespace smd::detail::reduce {

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
