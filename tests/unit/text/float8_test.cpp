// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "text/float8.hpp"

#include <cmath>
#include <limits>

using namespace smd::detail;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The papers' formulas: (-1)^s * 2^(e - bias) * 1.m, and (-1)^s * 2^(1 - bias) * 0.m if e is 0.
double by_formula(int code, int mantissa_bits, int bias) {
  const double sign = code >= 128 ? -1 : 1;
  const int exponent = (code & 127) >> mantissa_bits;
  const double fraction = std::ldexp(code & ((1 << mantissa_bits) - 1), -mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias) : sign * std::ldexp(1 + fraction, exponent - bias);
}

void check_all(const Float8Format& format, double (*expected)(int)) {
  const auto table = bfloat16_of_float8(format);
  for (int code = 0; code < 256; ++code) {
    CAPTURE(code);
    const double value = float8_value(format, static_cast<std::uint8_t>(code));
    const double want = expected(code);
    const double in_table = std::bit_cast<float>(std::uint32_t{table[static_cast<std::size_t>(code)]} << 16);
    if (std::isnan(want)) {
      CHECK(std::isnan(value));
      CHECK(std::isnan(in_table));
    } else {
      CHECK(value == want);
      CHECK(std::signbit(value) == std::signbit(want));
      CHECK(in_table == want);
    }
  }
}

}  // namespace

TEST_CASE("float8: all 256 codes of each kind equal the formula") {
  check_all(float8_e4m3fn, [](int code) { return (code & 127) == 127 ? not_a_number : by_formula(code, 3, 7); });
  check_all(float8_e5m2, [](int code) {
    const int rest = code & 127;
    return rest > 124 ? not_a_number : rest == 124 ? (code >= 128 ? -infinity : infinity) : by_formula(code, 2, 15);
  });
  check_all(float8_e4m3fnuz, [](int code) { return code == 128 ? not_a_number : by_formula(code, 3, 8); });
  check_all(float8_e5m2fnuz, [](int code) { return code == 128 ? not_a_number : by_formula(code, 2, 16); });
  check_all(float8_e8m0fnu, [](int code) { return code == 255 ? not_a_number : std::ldexp(1.0, code - 127); });
}

TEST_CASE("float8: greatest and least numbers are those of the papers") {
  CHECK(float8_value(float8_e4m3fn, 0x7E) == 448);
  CHECK(float8_value(float8_e4m3fn, 0x01) == std::ldexp(1.0f, -9));
  CHECK(float8_value(float8_e5m2, 0x7B) == 57344);
  CHECK(float8_value(float8_e5m2, 0x01) == std::ldexp(1.0f, -16));
  CHECK(float8_value(float8_e4m3fnuz, 0x7F) == 240);
  CHECK(float8_value(float8_e5m2fnuz, 0x7F) == 57344);
}
