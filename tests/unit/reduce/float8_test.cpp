// SPDX-License-Identifier: Apache-2.0
// 8-bit elements: 0x38 is 1 in E4M3 (exponent 7, the bias), 0x40 is 2, 0xC4 is -3 (2 * 1.5), 0x7F is NaN.
#include <doctest/doctest.h>
#include <smd/reduction.hpp>

#include <cmath>
#include <vector>

using namespace smd;

namespace {

double number(const std::vector<std::byte>& bytes, const char* name) {
  const std::vector<Reduction> wanted = {*parse_reduction(name)};
  const Shape shape = {static_cast<std::int64_t>(bytes.size())};
  return reduce(TensorView(Dtype::float8_e4m3fn, shape, bytes), wanted).front().real;
}

}  // namespace

TEST_CASE("float8 elements are reduced as numbers") {
  const std::vector<std::byte> bytes = {std::byte{0x38}, std::byte{0x40}, std::byte{0xC4}};
  CHECK(number(bytes, "min") == -3);
  CHECK(number(bytes, "max") == 2);
  CHECK(number(bytes, "sum") == 0);     // 1 + 2 - 3
  CHECK(number(bytes, "l1") == 6);      // 1 + 2 + 3
  CHECK(number(bytes, "median") == 1);  // -3, 1, 2
  CHECK(number(bytes, "abs_max") == 3);
}

TEST_CASE("long runs of float8 elements, in parts of any length") {
  // 100,003 elements: 50,002 times 1, 50,001 times -3.
  std::vector<std::byte> bytes(100003);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = i % 2 == 0 ? std::byte{0x38} : std::byte{0xC4};
  }
  CHECK(number(bytes, "sum") == -100001);  // 50002 - 3 * 50001
  CHECK(number(bytes, "min") == -3);
  CHECK(number(bytes, "prod") == -INFINITY);  // (-3)^50001
  CHECK(number(bytes, "median") == 1);
}

TEST_CASE("NaN of float8 elements is counted") {
  const std::vector<std::byte> bytes = {std::byte{0x7F}, std::byte{0xFF}, std::byte{0x38}};
  CHECK(number(bytes, "nan") == 2);
  CHECK(std::isnan(number(bytes, "sum")));
}
