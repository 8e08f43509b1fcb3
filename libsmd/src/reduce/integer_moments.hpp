// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/int128.hpp"
#include "reduce/moments.hpp"

namespace smd::detail::reduce {

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

}  // namespace smd::detail::reduce
