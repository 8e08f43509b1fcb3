// SPDX-License-Identifier: Apache-2.0
#include "hook/src/element_doubles.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

using namespace smd;
using detail::hook::bfloat16_number;
using detail::hook::half_number;

namespace {

template <class T, std::size_t n>
std::vector<double> doubles_of(Dtype dtype, const std::array<T, n>& elements) {
  const std::array<std::int64_t, 1> shape = {static_cast<std::int64_t>(n)};
  std::vector<double> doubles;
  detail::hook::for_each_double(TensorView(dtype, shape, std::as_bytes(std::span(elements))),
                                [&](double x) { doubles.push_back(x); });
  return doubles;
}

}  // namespace

// The examples of IEEE 754's binary16.
TEST_CASE("half numbers are exact, subnormal ones and infinities included") {
  CHECK(half_number(0x3C00) == 1);
  CHECK(half_number(0xC000) == -2);
  CHECK(half_number(0x3555) == 0x1.554p-2);
  CHECK(half_number(0x7BFF) == 65504);
  CHECK(half_number(0x0400) == 0x1p-14);
  CHECK(half_number(0x03FF) == 0x1.ff8p-15);
  CHECK(half_number(0x0001) == 0x1p-24);
  CHECK(half_number(0x8000) == 0);
  CHECK(std::signbit(half_number(0x8000)));
  CHECK(half_number(0x7C00) == std::numeric_limits<double>::infinity());
  CHECK(half_number(0xFC00) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(half_number(0x7E00)));
}

TEST_CASE("bfloat16 numbers are the upper halves of float32 ones") {
  CHECK(bfloat16_number(0x3F80) == 1);
  CHECK(bfloat16_number(0xC0A0) == -5);
  CHECK(bfloat16_number(0x0001) == 0x1p-133);
  CHECK(std::isnan(bfloat16_number(0x7FC0)));
}

TEST_CASE("elements of every size come in order") {
  using List = std::vector<double>;
  CHECK(doubles_of(Dtype::float32, std::array<float, 2>{0.5F, -1.25F}) == List{0.5, -1.25});
  CHECK(doubles_of(Dtype::int8, std::array<std::int8_t, 2>{-128, 127}) == List{-128, 127});
  CHECK(doubles_of(Dtype::uint16, std::array<std::uint16_t, 1>{65535}) == List{65535});
  CHECK(doubles_of(Dtype::uint64, std::array<std::uint64_t, 1>{UINT64_MAX}) == List{0x1p64});
  CHECK(doubles_of(Dtype::qint32, std::array<std::int32_t, 1>{-7}) == List{-7});
  CHECK(doubles_of(Dtype::float16, std::array<std::uint16_t, 2>{0x3C00, 0xBC00}) == List{1, -1});
  CHECK(doubles_of(Dtype::complex64, std::array<float, 2>{1, 2}).empty());
}

TEST_CASE("a shape larger than the bytes is cut off") {
  const std::array<double, 2> elements = {3, 4};
  const std::array<std::int64_t, 1> shape = {5};
  std::vector<double> doubles;
  detail::hook::for_each_double(TensorView(Dtype::float64, shape, std::as_bytes(std::span(elements))),
                                [&](double x) { doubles.push_back(x); });
  CHECK(doubles == std::vector<double>{3, 4});
}
