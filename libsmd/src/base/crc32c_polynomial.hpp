// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Polynomial arithmetic modulo that of CRC-32C, bits reflected: bit 31 is the coefficient of x^0. For constants.
namespace smd::detail {

inline constexpr std::uint32_t crc32c_polynomial = 0x82F63B78u;

/// Returns a times b.
constexpr std::uint32_t multiply_modulo(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) {
      product ^= b;
    }
    b = (b >> 1) ^ ((b & 1) != 0 ? crc32c_polynomial : 0);
  }
  return product;
}

/// Returns x to the power of n.
constexpr std::uint32_t power_modulo(std::uint64_t n) noexcept {
  std::uint32_t result = 0x80000000u;
  std::uint32_t square = 0x40000000u;
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) {
      result = multiply_modulo(result, square);
    }
    square = multiply_modulo(square, square);
  }
  return result;
}

}  // namespace smd::detail
