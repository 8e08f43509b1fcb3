// SPDX-License-Identifier: Apache-2.0
#include "text/half.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace smd::detail;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("every float16 is its own nearest") {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    CAPTURE(bits);
    // IEEE 754: (-1)^s * 2^(e - 15) * 1.m, and 2^-14 * 0.m if e is 0
    const int exponent = bits >> 10 & 31;
    const int mantissa = bits & 1023;
    const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    if (exponent != 31) {
      CHECK(half_bits(bits >= 0x8000 ? -size : size) == bits);
    }
  }
  CHECK(half_bits(infinity) == 0x7C00);
  CHECK(half_bits(-infinity) == 0xFC00);
  CHECK(half_bits(std::numeric_limits<double>::quiet_NaN()) == 0x7E00);
}

TEST_CASE("between two of float16, ties go to even") {
  CHECK(half_bits(1 + 0x1p-11) == 0x3C00);            // half way from 1 to the next, 1 + 2^-10
  CHECK(half_bits(1 + 0x1p-11 + 0x1p-40) == 0x3C01);  // beyond
  CHECK(half_bits(1 + 3 * 0x1p-11) == 0x3C02);
  CHECK(half_bits(2 - 0x1p-12) == 0x4000);  // rounds up to the next power of two
  CHECK(half_bits(65519.99) == 0x7BFF);
  CHECK(half_bits(65520) == 0x7C00);
  CHECK(half_bits(0x1p-25) == 0);  // half of the least
  CHECK(half_bits(0x1.8p-25) == 1);
  CHECK(half_bits(0x1p-14 - 0x1p-26) == 0x0400);  // rounds up to the least normal number
}

TEST_CASE("bfloat16 is the upper half of a float32, rounded") {
  CHECK(bfloat16_bits(1) == 0x3F80);
  CHECK(bfloat16_bits(-2) == 0xC000);
  CHECK(bfloat16_bits(1 + 0x1p-8F) == 0x3F80);  // half way to 1 + 2^-7
  CHECK(bfloat16_bits(1 + 0x1p-8F + 0x1p-20F) == 0x3F81);
  CHECK(bfloat16_bits(1 + 3 * 0x1p-8F) == 0x3F82);
  CHECK(bfloat16_bits(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(bfloat16_bits(std::numeric_limits<float>::infinity()) == 0x7F80);
  CHECK(bfloat16_bits(std::bit_cast<float>(0x7F800001U)) == 0x7FC0);  // NaN, not infinity
  CHECK(bfloat16_bits(std::bit_cast<float>(0xFFFFFFFFU)) == 0xFFFF);
}
