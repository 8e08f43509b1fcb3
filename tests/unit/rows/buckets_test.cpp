// SPDX-License-Identifier: Apache-2.0
#include "rows/buckets.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace smd::tool {

namespace {

struct Case {
  std::uint64_t bins;
  bool bounded;
  double low;
  double high;
  std::vector<std::uint64_t> counts;  // numpy.histogram
  std::vector<double> edges;
};

const Case cases[] = {
#define SMD_HISTOGRAM_CASES
#include "unit/tensor/numpy_cases.inc"
#undef SMD_HISTOGRAM_CASES
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

Histogram of(const std::vector<double>& numbers, const BinSpec& bins) {
  const auto size = static_cast<std::int64_t>(numbers.size());
  return histogram_of(TensorView(Dtype::float64, {&size, 1}, std::as_bytes(std::span(numbers))), bins);
}

}  // namespace

TEST_CASE("bins hold what NumPy's hold") {
  std::vector<double> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = (static_cast<double>(i * 37 % 1009) - 300) / 8;
  }
  for (const Case& sample : cases) {
    CAPTURE(sample.bins);
    BinSpec bins{.count = sample.bins, .low = {}, .high = {}};
    if (sample.bounded) {
      bins.low = sample.low;
      bins.high = sample.high;
    }
    const Histogram result = of(numbers, bins);
    CHECK(result.counts() == sample.counts);
    REQUIRE(result.edges().size() == sample.edges.size());
    for (std::size_t i = 0; i < sample.edges.size(); ++i) {
      CHECK(result.edges()[i] == doctest::Approx(sample.edges[i]).epsilon(1e-15));
    }
  }
}

TEST_CASE("what is not finite is in no bin") {
  const Histogram result = of({NAN, 1, infinity, 2, -infinity, 4}, {.count = 3, .low = {}, .high = {}});
  CHECK(result.edges() == std::vector<double>{1, 2, 3, 4});
  CHECK(result.counts() == std::vector<std::uint64_t>{1, 1, 1});
  CHECK(result.nan() == 1);
  CHECK(result.outside() == 2);
}

TEST_CASE("without finite elements the bounds are 0 and 1, as NumPy's of nothing") {
  CHECK(of({}, {.count = 2, .low = {}, .high = {}}).edges() == std::vector<double>{0, 0.5, 1});
  CHECK(of({NAN}, {.count = 1, .low = {}, .high = {}}).counts() == std::vector<std::uint64_t>{0});
}

TEST_CASE("bounds whose distance is no double") {
  // Halves of the range: -max and 0 lie in the lower and the upper one, max is the last bound.
  const Histogram result = of({-largest, -1, 0, 1, largest}, {.count = 2, .low = {}, .high = {}});
  CHECK(result.edges() == std::vector<double>{-largest, 0, largest});
  CHECK(result.counts() == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("saved buckets of any real type") {
  const auto counts_of = [](Dtype dtype, const auto& numbers) {
    const std::array<std::int64_t, 2> shape = {2, 3};
    return counts_of_buckets(TensorView(dtype, shape, std::as_bytes(std::span(numbers))));
  };
  const auto check = [](const std::optional<BucketCounts>& buckets, const std::vector<double>& edges) {
    REQUIRE(buckets);
    CHECK(buckets->edges == edges);
    CHECK(buckets->counts == std::vector<double>{2, 3});
  };
  check(counts_of(Dtype::float64, std::array<double, 6>{0.5, 1, 2, 1, 1.5, 3}), {0.5, 1, 1.5});
  check(counts_of(Dtype::float32, std::array<float, 6>{0.5, 1, 2, 1, 1.5, 3}), {0.5, 1, 1.5});
  check(counts_of(Dtype::int64, std::array<std::int64_t, 6>{-4, 1, 2, 1, 6, 3}), {-4, 1, 6});
  CHECK_FALSE(counts_of(Dtype::float32, std::array<float, 6>{1, 2, 2, 0, 1, 3}));  // they do not ascend
  CHECK_FALSE(counts_of(Dtype::complex64, std::array<float, 12>{}));
}

}  // namespace smd::tool
