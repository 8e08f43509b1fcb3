// SPDX-License-Identifier: Apache-2.0
#include "reduce/wide_squares.hpp"

#include "reduce/int128.hpp"
#include "reduce/moments.hpp"

#include <cstring>

namespace smd::detail::reduce {

DoubleDouble wide_squares(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base) {
  // A distance is high * 2^32 + low, its square high^2 * 2^64 + high * low * 2^33 + low^2.
  Uint128 sum = 0;
  Uint128 high_squares = 0;
  Uint128 products = 0;
  Uint128 low_squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
    bits = is_signed && magnitude ? magnitude_of(bits) : bits;
    const std::uint64_t distance = bits - base;
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

}  // namespace smd::detail::reduce
