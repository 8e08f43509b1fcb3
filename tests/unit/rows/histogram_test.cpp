// SPDX-License-Identifier: Apache-2.0
#include "rows/histogram.hpp"

#include "cli/exit_status.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

template <class T>
void add(smd::tool::Histogram& to, const std::vector<T>& values, smd::Dtype dtype) {
  const auto size = static_cast<std::int64_t>(values.size());
  to.add(smd::TensorView(dtype, {&size, 1}, std::as_bytes(std::span(values))));
}

}  // namespace

TEST_CASE("bins equal numpy.histogram's") {
  // numpy.histogram([0, .1, .2, .3, .5, .7, .9, 1], 10, (0, 1)): edges are met exactly or missed by rounding.
  const std::vector<double> values = {0, .1, .2, .3, .5, .7, .9, 1};
  smd::tool::Histogram histogram(10, 0, 1);
  add(histogram, values, smd::Dtype::float64);
  CHECK(histogram.counts() == std::vector<std::uint64_t>{1, 1, 2, 0, 0, 1, 1, 0, 0, 2});
  CHECK(histogram.edges()[3] == 0.30000000000000004);  // numpy.linspace(0, 1, 11)[3]; 0.3 is less
}

TEST_CASE("elements outside are counted separately; parts merge") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {-1, 0, 2, 4, 4.5, nan, infinity, -infinity, nan};
  smd::tool::Histogram histogram(2, 0, 4);
  add(histogram, values, smd::Dtype::float64);
  smd::tool::Histogram other(2, 0, 4);
  const std::vector<std::int64_t> integers = {1, 3, -5, std::numeric_limits<std::int64_t>::max()};
  add(other, integers, smd::Dtype::int64);
  histogram.merge(other);
  CHECK(histogram.counts() == std::vector<std::uint64_t>{2, 3});
  CHECK(histogram.outside() == 6);
  CHECK(histogram.nan() == 2);
  CHECK_THROWS_AS(histogram.merge(smd::tool::Histogram(2, 0, 5)), smd::tool::UsageError);
}

TEST_CASE("equal bounds are widened; invalid ones are refused") {
  CHECK(smd::tool::Histogram(2, 3, 3).edges() == std::vector<double>{2.5, 3, 3.5});  // numpy.histogram([3, 3], 2)
  CHECK_THROWS_AS(smd::tool::Histogram(0, 0, 1), smd::tool::UsageError);
  CHECK_THROWS_AS(smd::tool::Histogram(3, 1, 0), smd::tool::UsageError);
  CHECK_THROWS_AS(smd::tool::Histogram(3, 0, std::numeric_limits<double>::infinity()), smd::tool::UsageError);
}

// By hand: quarters of a range of 2^1024.
TEST_CASE("bounds whose distance overflows double") {
  const double half = std::ldexp(1, 1023);
  smd::tool::Histogram histogram(4, -half, half);
  CHECK(histogram.edges() == std::vector<double>{-half, -half / 2, 0, half / 2, half});
  add(histogram, std::vector<double>{-half, -1, 0, 1, half / 2, half}, smd::Dtype::float64);
  CHECK(histogram.counts() == std::vector<std::uint64_t>{1, 1, 2, 2});
}

TEST_CASE("a bound so large that adding one half does not change it") {
  smd::tool::Histogram histogram(3, 1e300, 1e300);
  add(histogram, std::vector<double>{1e300, 1e300}, smd::Dtype::float64);
  CHECK(histogram.counts() == std::vector<std::uint64_t>{0, 0, 2});
}

TEST_CASE("every element is counted between the edges around it") {
  std::mt19937_64 random(8);
  std::normal_distribution<double> number(0, 3);
  std::vector<double> values(5000);
  for (double& value : values) {
    value = number(random);
  }
  smd::tool::Histogram histogram(37, -2.9, 2.7);
  add(histogram, values, smd::Dtype::float64);
  const std::vector<double>& edges = histogram.edges();
  for (std::size_t bin = 0; bin < 37; ++bin) {
    std::uint64_t count = 0;
    for (const double value : values) {
      const bool last = bin == 36;
      count += value >= edges[bin] && (value < edges[bin + 1] || (last && value == edges[bin + 1])) ? 1 : 0;
    }
    CHECK(histogram.counts()[bin] == count);
  }
}
