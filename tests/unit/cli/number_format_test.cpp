// SPDX-License-Identifier: Apache-2.0
#include "cli/number_format.hpp"

#include <doctest/doctest.h>
#include <smd/elements.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

using namespace smd::tool;  // NOLINT: a test of most of the header
using smd::BFloat16;
using smd::Half;

namespace {

template <class Number>
std::string json(Number number, NonFinite style = NonFinite::string) {
  char text[number_chars];
  return {text, write_json_number(text, number, 0, style)};
}

}  // namespace

TEST_CASE("float32 and float64 read back with the same bits") {
  std::mt19937_64 random(20231121);
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t bits = random();
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isfinite(single)) {
      const std::string text = number_text(single);
      REQUIRE(std::bit_cast<std::uint32_t>(std::strtof(text.c_str(), nullptr)) == static_cast<std::uint32_t>(bits));
    }
    const auto number = std::bit_cast<double>(bits);
    if (std::isfinite(number)) {
      const std::string text = number_text(number);
      REQUIRE(std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)) == bits);
      REQUIRE(json(number) == text);
    }
  }
}

TEST_CASE("the shortest text in the number's own type") {
  CHECK(number_text(0.1F) == "0.1");
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(static_cast<double>(0.1F)) == "0.10000000149011612");  // as Python prints it
  CHECK(number_text(3.0F) == "3");
  CHECK(number_text(-0.0) == "-0");
  CHECK(number_text(1e-7F) == "1e-07");
  CHECK(number_text(std::numeric_limits<double>::denorm_min()) == "5e-324");
  CHECK(number_text(std::int64_t{-9223372036854775807 - 1}) == "-9223372036854775808");
  CHECK(number_text(std::uint64_t{18446744073709551615U}) == "18446744073709551615");
  CHECK(number_text(std::int8_t{-128}) == "-128");
  CHECK(number_text(std::uint8_t{65}) == "65");
  CHECK(number_text(true) == "true");
  CHECK(number_text(Half{0x2E66}) == "0.1");      // 0.0999755859375, the half nearest to 0.1
  CHECK(number_text(Half{0x7BFF}) == "65504");    // the largest
  CHECK(number_text(Half{0x0001}) == "6e-08");    // 2^-24 = 5.96e-8
  CHECK(number_text(BFloat16{0x3DCD}) == "0.1");  // 0.10009765625, the bfloat16 nearest to 0.1
}

TEST_CASE("what is not finite, and complex numbers") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(number_text(nan) == "nan");
  CHECK(number_text(-nan) == "nan");
  CHECK(number_text(infinity) == "inf");
  CHECK(number_text(static_cast<float>(-infinity)) == "-inf");
  CHECK(number_text(Half{0xFC00}) == "-inf");
  CHECK(number_text(BFloat16{0x7FC0}) == "nan");
  CHECK(json(nan) == "\"NaN\"");
  CHECK(json(infinity) == "\"Infinity\"");
  CHECK(json(Half{0xFC00}) == "\"-Infinity\"");
  CHECK(json(nan, NonFinite::null) == "null");
  CHECK(json(-infinity, NonFinite::null) == "null");
  CHECK(number_text(std::complex<float>(1.5F, -2.0F)) == "1.5-2j");
  CHECK(number_text(std::complex<double>(0.1, 0.2)) == "0.1+0.2j");
  CHECK(number_text(std::complex<double>(nan, nan)) == "nan+nanj");
  CHECK(number_text(std::complex<double>(0, -infinity)) == "0-infj");
  CHECK(json(std::complex<float>(1.5F, -2.0F)) == "[1.5, -2]");
  CHECK(json(std::complex<double>(nan, 1), NonFinite::null) == "[null, 1]");
  CHECK(json(-0.0) == "-0.0");
  CHECK(json(-0.0F) == "-0.0");
  CHECK(json(Half{0x8000}) == "-0.0");
  CHECK(json(BFloat16{0x8000}) == "-0.0");
  CHECK(json(std::complex<double>(-0.0, 0.0)) == "[-0.0, 0]");
}

TEST_CASE("precision counts significant digits, as printf's %g") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (std::isfinite(number)) {
      const int digits = 1 + i % 20;
      char expected[64];
      std::snprintf(expected, sizeof expected, "%.*g", digits, number);
      REQUIRE(number_text(number, digits) == expected);
    }
  }
  CHECK(number_text(1.0 / 3, 6) == "0.333333");
  CHECK(number_text(Half{0x3555}, 3) == "0.333");
  CHECK(number_text(std::int64_t{123456789}, 3) == "123456789");
  // The longest text there is has room.
  CHECK(number_text(std::complex<double>(-std::numeric_limits<double>::denorm_min(), -1.0 / 3), max_precision).size() <
        number_chars);
}
