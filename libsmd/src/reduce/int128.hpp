// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/doubles.hpp"

#include <cstdint>

namespace smd::detail::reduce {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// Returns |x| of a signed integer's bits; that of the smallest one is 2^63, which fits.
inline std::uint64_t magnitude_of(std::uint64_t bits) noexcept { return (bits >> 63) != 0 ? ~bits + 1 : bits; }

/// Returns the integer that 64 bits represent.
inline Int128 integer_from(bool is_signed, std::uint64_t bits) noexcept {
  return is_signed ? Int128{static_cast<std::int64_t>(bits)} : static_cast<Int128>(bits);
}

/// Converts to a double-double, accurate to 106 bits.
inline DoubleDouble to_pair(Int128 value) noexcept {
  const auto high = static_cast<double>(value);
  // high may be rounded up past the largest Int128, but sums of counted integers never get that large.
  return {high, static_cast<double>(value - static_cast<Int128>(high))};
}

}  // namespace smd::detail::reduce
