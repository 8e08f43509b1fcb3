// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/exact_sum.hpp"
#include "reduce/kernels.hpp"
#include "reduce/moments.hpp"

namespace smd::detail::reduce {

struct Groups;

/// What one block of finite doubles adds up to.
struct BlockFigures {
  Moments moments;      ///< `squares` only if asked for.
  Moments abs_moments;  ///< Likewise.
};

/// How a type is grained: bits of precision, and the exponent of its smallest number.
struct Precision {
  int bits;
  int lowest_exponent;
};

/// How finely a block's elements are grained: every one is a multiple of 2^unit, and below 2^top in size.
struct Grain {
  int unit = 0;
  int top = 0;
};

/// Sums, and squared distances from the block's own means. The sum goes to `exact`, without error, if that is not null;
/// otherwise the two parts of `moments.sum` hold it to about 106 bits.
/// @param values followed by zeros up to the padding.
BlockFigures block_figures(const double* values, std::size_t n, const BlockRange& range, Grain grain,
                           const Groups& groups, ExactSum* exact);

/// What the blocks before lead to expect of the next.
struct StreamGuess {
  bool known = false;    ///< There was something before.
  int top = 0;           ///< Every |x| is below 2^top, or not much above.
  bool cancels = false;  ///< The mean is large against the spread.
  bool grows = false;    ///< Sums of integers are too large to do without a bias.

  /// The largest |x| of some elements; of none but zeros nothing is learnt.
  void see(double largest) noexcept {
    if (largest > 0) {
      known = true;
      top = exponent_above(largest);
    }
  }
};

/// The same in one pass over `n` elements (stream_size or long_stream_size_of the type) of floating point or 64-bit
/// integers, on a guess. False, and nothing done but to the guess, if it was wrong or the data are in another way
/// unfit. Of integers both parts of the sums together are exact.
/// Squared distances only if the groups ask for moments.
/// @param range `smallest` and `has_zero` only if the groups ask for the least magnitude or the product.
bool stream_figures(Dtype type, const std::byte* source, std::size_t n, Precision precision, const Groups& groups,
                    StreamGuess& guess, BlockRange& range, BlockFigures& figures, ExactSum* exact);

}  // namespace smd::detail::reduce
