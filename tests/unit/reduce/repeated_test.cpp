// SPDX-License-Identifier: Apache-2.0
// Equal elements: as many as a shape has, without that many additions.
#include <smd/reduction.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace {

using smd::Dtype;

double reduced(smd::Reducer& reducer, const char* name) {
  return reducer.result(smd::parse_reduction(name).value()).real;
}

smd::Reducer make(const std::vector<const char*>& names) {
  std::vector<smd::Reduction> wanted;
  for (const char* name : names) {
    wanted.push_back(smd::parse_reduction(name).value());
  }
  return smd::Reducer(wanted);
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

TEST_CASE("a repeated element counts once for each repetition") {
  smd::Reducer reducer = make({"count", "min", "max", "sum", "mean", "std", "l1", "l2", "negative", "zero"});
  const float element = -1.5F;
  constexpr std::uint64_t count = (std::uint64_t{1} << 40) + 4097 + 5;  // not a whole number of blocks
  reducer.add_repeated(Dtype::float32, bytes_of(element), count);
  CHECK(reduced(reducer, "count") == static_cast<double>(count));
  CHECK(reduced(reducer, "min") == -1.5);
  CHECK(reduced(reducer, "max") == -1.5);
  CHECK(reduced(reducer, "sum") == -1.5 * static_cast<double>(count));  // exact: 42 bits of 53
  CHECK(reduced(reducer, "mean") == -1.5);
  CHECK(reduced(reducer, "std") == 0);
  CHECK(reduced(reducer, "l1") == 1.5 * static_cast<double>(count));
  CHECK(reduced(reducer, "l2") == doctest::Approx(1.5 * std::sqrt(static_cast<double>(count))).epsilon(1e-15));
  CHECK(reduced(reducer, "negative") == static_cast<double>(count));
  CHECK(reduced(reducer, "zero") == 0);
}

TEST_CASE("repeated elements are combined with earlier ones") {
  smd::Reducer reducer = make({"sum", "mean", "prod", "variance", "median"});
  const std::vector<std::int32_t> first = {4, 4, 4};
  reducer.add(Dtype::int32, std::as_bytes(std::span(first)));
  const std::int32_t element = -2;
  reducer.add_repeated(Dtype::int32, bytes_of(element), 3);
  reducer.add_repeated(Dtype::int32, bytes_of(element), 0);
  CHECK(reduced(reducer, "sum") == 6);       // 12 - 6
  CHECK(reduced(reducer, "mean") == 1);      // 6 / 6
  CHECK(reduced(reducer, "prod") == -512);   // 64 * -8
  CHECK(reduced(reducer, "variance") == 9);  // each is 3 from the mean
  CHECK(reduced(reducer, "median") == 1);    // between -2 and 4
}

TEST_CASE("each repetition of a NaN counts") {
  smd::Reducer reducer = make({"nan", "mean"});
  const double element = std::nan("");
  reducer.add_repeated(Dtype::float64, bytes_of(element), 10'000);
  CHECK(reduced(reducer, "nan") == 10'000);
  CHECK(std::isnan(reduced(reducer, "mean")));
}
