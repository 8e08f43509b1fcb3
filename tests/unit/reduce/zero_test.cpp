// SPDX-License-Identifier: Apache-2.0
// -0.0 is the minimum and 0.0 the maximum of zeros of both signs, wherever they are.
#include <doctest/doctest.h>
#include <smd/reduction.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "each_instruction_set.hpp"

namespace {

using smd::Dtype;

const std::vector<smd::Reduction> extremes = {{.kind = smd::ReductionKind::min}, {.kind = smd::ReductionKind::max}};

// Returns `n` zeros of one sign, except the one at `odd`.
std::vector<std::byte> zeros(Dtype dtype, std::size_t n, bool negative, std::size_t odd) {
  const std::size_t item = smd::item_size(dtype);
  std::vector<std::byte> bytes(n * item);
  for (std::size_t i = 0; i < n; ++i) {
    bytes[(i + 1) * item - 1] = std::byte((i == odd) != negative ? 0x80 : 0);
  }
  return bytes;
}

}  // namespace

TEST_CASE("the minimum of zeros is -0.0, the maximum +0.0") {
  smd_test::with_each_instruction_set([] {
    for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
      CAPTURE(static_cast<int>(dtype));
      for (const std::size_t n : {2U, 3U, 7U, 9U, 31U, 33U, 70U, 2049U, 8200U}) {
        for (const std::size_t odd : {std::size_t{0}, n / 2, n - 1}) {
          for (const bool negative : {false, true}) {
            CAPTURE(n);
            CAPTURE(odd);
            CAPTURE(negative);
            smd::Reducer reducer(extremes);
            reducer.add(dtype, zeros(dtype, n, negative, odd));
            CHECK(reducer.result(extremes[0]).real == 0);
            CHECK(std::signbit(reducer.result(extremes[0]).real));
            CHECK(!std::signbit(reducer.result(extremes[1]).real));
          }
        }
        smd::Reducer same(extremes);
        same.add(dtype, zeros(dtype, n, true, n));
        CHECK(std::signbit(same.result(extremes[1]).real));
        smd::Reducer positive(extremes);
        positive.add(dtype, zeros(dtype, n, false, n));
        CHECK(!std::signbit(positive.result(extremes[0]).real));
      }
    }
  });
}

TEST_CASE("the zero of an integer is positive") {
  const float negative = -0.0F;
  const std::int64_t zero = 0;
  smd::Reducer one(extremes);
  one.add(Dtype::float32, std::as_bytes(std::span(&negative, 1)));
  one.add(Dtype::int64, std::as_bytes(std::span(&zero, 1)));
  smd::Reducer other(extremes);
  other.add(Dtype::int64, std::as_bytes(std::span(&zero, 1)));
  other.add(Dtype::float32, std::as_bytes(std::span(&negative, 1)));
  for (const smd::Reducer* const reducer : {&one, &other}) {
    CHECK(std::signbit(reducer->result(extremes[0]).real));
    CHECK(!std::signbit(reducer->result(extremes[1]).real));
  }
}

TEST_CASE("the product of integers is no negative zero, that of floats may be") {
  const std::vector<smd::Reduction> wanted = {{.kind = smd::ReductionKind::prod}};
  const std::array<std::int8_t, 2> whole = {-1, 0};
  const std::array<float, 2> real = {-1, 0};
  smd::Reducer integers(wanted);
  integers.add(Dtype::int8, std::as_bytes(std::span(whole)));
  CHECK(integers.result(wanted[0]).real == 0);
  CHECK(!std::signbit(integers.result(wanted[0]).real));
  smd::Reducer floats(wanted);
  floats.add(Dtype::float32, std::as_bytes(std::span(real)));
  CHECK(std::signbit(floats.result(wanted[0]).real));
}
