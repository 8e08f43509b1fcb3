// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace smd_test {

/// Returns the bits of a 16-bit float, rounded toward 0; for float16, numbers below 2^-14 become 0, and 65536 and more
/// infinite.
inline std::uint16_t bfloat16_bits(double value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}
inline std::uint16_t float16_bits(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  unsigned rest = 0;
  if (std::isnan(value)) {
    rest = 0x7E00;
  } else if (size >= 65536) {
    rest = 0x7C00;
  } else if (size >= 0x1p-14) {
    const int exponent = std::ilogb(size);
    rest = static_cast<unsigned>(exponent + 15) << 10 | (static_cast<unsigned>(std::ldexp(size, 10 - exponent)) - 1024);
  }
  return static_cast<std::uint16_t>(sign | rest);
}

/// Returns the value of such bits.
inline double bfloat16_value(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}
inline double float16_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) {
    size = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

}  // namespace smd_test
