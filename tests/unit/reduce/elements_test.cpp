// SPDX-License-Identifier: Apache-2.0
// Elements of a view, in their own type and as doubles.
#include <smd/elements.hpp>
#include <smd/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace smd::test {
namespace {

template <class T>
TensorView view_of(Dtype dtype, const std::vector<T>& elements, const std::array<std::int64_t, 1>& shape) {
  return {dtype, shape, std::as_bytes(std::span(elements))};
}

TEST_CASE("elements of any real type, from anywhere, as doubles") {
  std::vector<std::int16_t> numbers(5000);
  std::iota(numbers.begin(), numbers.end(), std::int16_t{-2500});
  const std::array<std::int64_t, 1> shape{5000};
  const TensorView view = view_of(Dtype::int16, numbers, shape);
  const std::vector<double> all = to_doubles(view);
  REQUIRE(all.size() == 5000);
  CHECK(all.front() == -2500);
  CHECK(all[2048] == -452);
  CHECK(all.back() == 2499);
  // Nothing is written past what was asked for, and what the view does not have is left as it was.
  std::vector<double> some(2300, 77);
  CHECK(copy_as_doubles(view, 100, std::span(some).first(2200)) == 2200);
  CHECK(some.front() == -2400);
  CHECK(some[2199] == -201);
  CHECK(some[2200] == 77);
  some.assign(10, 77);
  CHECK(copy_as_doubles(view, 4995, some) == 5);
  CHECK(some[4] == 2499);
  CHECK(some[5] == 77);
  CHECK(copy_as_doubles(view, 5000, some) == 0);
  CHECK(copy_as_doubles(view, UINT64_MAX, some) == 0);
}

TEST_CASE("halves, booleans and large integers") {
  const std::array<std::int64_t, 1> two{2};
  CHECK(to_doubles(view_of<std::uint16_t>(Dtype::float16, {0x3C00, 0xC100}, two)) == std::vector{1.0, -2.5});
  CHECK(to_doubles(view_of<std::uint8_t>(Dtype::boolean, {0, 1}, two)) == std::vector{0.0, 1.0});
  CHECK(to_doubles(view_of<std::int64_t>(Dtype::int64, {INT64_MIN, (std::int64_t{1} << 53) + 1}, two)) ==
        std::vector{-9223372036854775808.0, 9007199254740992.0});
}

TEST_CASE("what is no real number is refused; bytes that are missing are no elements") {
  const std::array<std::int64_t, 1> two{2};
  CHECK_THROWS_AS(static_cast<void>(to_doubles(view_of<double>(Dtype::complex128, {1, 2, 3, 4}, two))),
                  InvalidArgument);
  CHECK(to_doubles(view_of<float>(Dtype::float32, {1}, two)) == std::vector{1.0});
}

TEST_CASE("every type of numbers is visited, with short ones widened; text is refused") {
  for (const Dtype dtype : all_dtypes()) {
    CAPTURE(to_string(dtype));
    const std::array<std::int64_t, 1> two{2};
    // One byte past an aligned address: elements need not be aligned.
    const std::vector<std::byte> bytes(1 + 2 * item_size(dtype), std::byte{0});
    const TensorView view(dtype, two, std::span(bytes).subspan(1));
    if (dtype == Dtype::string) {
      CHECK_THROWS_AS(visit_elements(view, [](const auto&) {}), InvalidArgument);
      continue;
    }
    visit_elements(view, [&](const auto& elements) {
      using Number = decltype(elements[0]);
      CHECK(elements.size() == 2);
      CHECK(std::is_arithmetic_v<Number> == is_real(dtype));
      if constexpr (std::is_arithmetic_v<Number>) {
        CHECK(std::is_floating_point_v<Number> == is_floating(dtype));
        CHECK(sizeof(Number) == std::max<std::size_t>(item_size(dtype), 4));
        CHECK(elements[1] == (dtype == Dtype::float8_e8m0fnu ? 0x1p-127F : 0));
      }
    });
    if (is_real(dtype)) {
      CHECK(visit_numbers(view, [](const auto& elements) { return elements.size(); }) == 2);
    } else {
      CHECK_THROWS_AS(visit_numbers(view, [](const auto&) {}), InvalidArgument);
    }
  }
  CHECK_THROWS_AS(visit_element_type(static_cast<Dtype>(99), [](auto) {}), InvalidArgument);
}

TEST_CASE("numbers of 16 bits: all are those of their formulas") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double sign = bits >= 0x8000 ? -1 : 1;
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = std::ldexp(bits & 1023, -10);
    const float got = to_float(Half{static_cast<std::uint16_t>(bits)});
    if (exponent == 31 && fraction != 0) {
      REQUIRE(std::isnan(got));
    } else {
      const double size = exponent == 31  ? std::numeric_limits<double>::infinity()
                          : exponent == 0 ? std::ldexp(fraction, -14)
                                          : std::ldexp(1 + fraction, exponent - 15);
      REQUIRE(static_cast<double>(got) == sign * size);
      REQUIRE(std::signbit(got) == (sign < 0));
    }
  }
  CHECK(to_float(BFloat16{0x3FC0}) == 1.5F);
  CHECK(to_float(BFloat16{0xC000}) == -2);
}

}  // namespace
}  // namespace smd::test
