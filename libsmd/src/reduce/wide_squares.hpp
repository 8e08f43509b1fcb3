// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/double_double.hpp"

#include <cstddef>
#include <cstdint>

namespace smd::detail::reduce {

/// Returns the squared distances from the mean of 64-bit integers, or of their magnitudes, that are too far apart for
/// doubles to hold the distances. With few elements, rounding errors would not average out.
/// @param n at most block_size, so that no sum overflows.
/// @param base not greater than any of them.
DoubleDouble wide_squares(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base);

}  // namespace smd::detail::reduce
