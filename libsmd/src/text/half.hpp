// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

/// Conversions of wider numbers to 16-bit floating point.
namespace smd::detail {

/// Returns the nearest float16 (IEEE 754 binary16), ties to even; NaN keeps its sign only.
[[nodiscard]] inline std::uint16_t half_bits(double number) noexcept {
  constexpr double first_beyond = 65520;  // half way from the greatest finite one to 2^16
  const auto sign = static_cast<std::uint16_t>(std::signbit(number) ? 0x8000 : 0);
  const double size = std::fabs(number);
  if (std::isnan(number)) {
    return sign | 0x7E00;
  }
  if (size >= first_beyond) {
    return sign | 0x7C00;
  }
  if (size < 0x1p-14) {
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(size * 0x1p24)));
  }
  int exponent = 0;
  const double mantissa = std::frexp(size, &exponent);  // in [0.5, 1)
  // A mantissa rounded up to 2048 carries into the exponent, as it should.
  const auto bits = static_cast<std::uint32_t>(std::nearbyint(mantissa * 2048)) - 1024;
  return static_cast<std::uint16_t>(sign | ((static_cast<std::uint32_t>(exponent + 14) << 10) + bits));
}

/// Returns the nearest bfloat16, ties to even; NaN stays NaN.
[[nodiscard]] inline std::uint16_t bfloat16_bits(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if (std::isnan(number)) {
    return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  }
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace smd::detail
