// SPDX-License-Identifier: Apache-2.0
#include <smd/elements.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace smd;

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

void check_all(Dtype dtype, double (*expected)(int)) {
  CAPTURE(to_string(dtype));
  const std::array<float, 256>* const numbers = float8_numbers(dtype);
  REQUIRE(numbers != nullptr);
  for (int code = 0; code < 256; ++code) {
    CAPTURE(code);
    const double value = (*numbers)[static_cast<std::size_t>(code)];
    const double want = expected(code);
    if (std::isnan(want)) {
      CHECK(std::isnan(value));
    } else {
      CHECK(value == want);
      CHECK(std::signbit(value) == std::signbit(want));
    }
  }
}

float number(Dtype dtype, std::size_t code) { return (*float8_numbers(dtype))[code]; }

}  // namespace

TEST_CASE("float8: all 256 codes of each kind equal the formula") {
  check_all(Dtype::float8_e4m3fn, [](int code) { return (code & 127) == 127 ? not_a_number : by_formula(code, 3, 7); });
  check_all(Dtype::float8_e5m2, [](int code) {
    const int rest = code & 127;
    return rest > 124 ? not_a_number : rest == 124 ? (code >= 128 ? -infinity : infinity) : by_formula(code, 2, 15);
  });
  check_all(Dtype::float8_e4m3fnuz, [](int code) { return code == 128 ? not_a_number : by_formula(code, 3, 8); });
  check_all(Dtype::float8_e5m2fnuz, [](int code) { return code == 128 ? not_a_number : by_formula(code, 2, 16); });
  check_all(Dtype::float8_e8m0fnu, [](int code) { return code == 255 ? not_a_number : std::ldexp(1.0, code - 127); });
}

TEST_CASE("float8: greatest and least numbers are those of the papers") {
  CHECK(number(Dtype::float8_e4m3fn, 0x7E) == 448);
  CHECK(number(Dtype::float8_e4m3fn, 0x01) == std::ldexp(1.0F, -9));
  CHECK(number(Dtype::float8_e5m2, 0x7B) == 57344);
  CHECK(number(Dtype::float8_e5m2, 0x01) == std::ldexp(1.0F, -16));
  CHECK(number(Dtype::float8_e4m3fnuz, 0x7F) == 240);
  CHECK(number(Dtype::float8_e5m2fnuz, 0x7F) == 57344);
}

TEST_CASE("float8: other types have no such table") {
  for (const Dtype dtype : all_dtypes()) {
    CHECK((float8_numbers(dtype) != nullptr) == (is_floating(dtype) && item_size(dtype) == 1));
  }
}
