// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/double_double.hpp"

#include <cstddef>
#include <cstdint>

namespace smd::detail::reduce {

/// Squared distances from the mean of 64-bit integers, or of their magnitudes, that lie too far apart for doubles to
/// hold the distances: of few elements, roundings of each would not even out.
/// @param n at most block_size, so that no sum overflows.
/// @param base not above any of them.
DoubleDouble wide_squares(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base);

}  // namespace smd::detail::reduce
