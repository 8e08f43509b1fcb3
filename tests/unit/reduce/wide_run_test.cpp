// SPDX-License-Identifier: Apache-2.0
// Compares reductions of 64-bit integers, in runs long enough to be streamed, with 128-bit arithmetic, for every
// instruction set.
#include <doctest/doctest.h>
#include <smd/reduction.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "alone.hpp"
#include "each_instruction_set.hpp"
#include "reduce/doubles.hpp"
#include "values.hpp"

namespace {

using smd::Dtype;
using smd::detail::reduce::Int128;

Int128 integer(const smd::ReducedValue& value) {
  return static_cast<Int128>((static_cast<smd::detail::reduce::Uint128>(static_cast<std::uint64_t>(value.high)) << 64) |
                             value.low);
}

// With m the mean rounded down and d = x - m, the sum of (x - mean)^2 is that of d^2 minus (sum of d)^2 / n. |d| is
// below 2^56, n below 2^15: nothing overflows, and only the last steps round, to 64 bits.
double variance(const std::vector<Int128>& values) {
  const auto n = static_cast<Int128>(values.size());
  Int128 sum = 0;
  for (const Int128 value : values) {
    sum += value;
  }
  const Int128 rest = ((sum % n) + n) % n;
  const Int128 mean = (sum - rest) / n;
  Int128 squares = 0;
  for (const Int128 value : values) {
    squares += (value - mean) * (value - mean);
  }
  const auto count = static_cast<long double>(n);
  const long double moved = static_cast<long double>(rest) * static_cast<long double>(rest) / count;
  return static_cast<double>((static_cast<long double>(squares) - moved) / count);
}

void check(Dtype dtype, const std::vector<std::uint64_t>& bits, bool variances) {
  std::vector<smd::Reduction> wanted;
  for (const char* name : {"min", "max", "sum", "l1", "variance", "abs_variance"}) {
    wanted.push_back(smd::parse_reduction(name).value());
  }
  std::vector<Int128> values;
  std::vector<Int128> sizes;
  Int128 sum = 0;
  Int128 magnitudes = 0;
  for (const std::uint64_t one : bits) {
    values.push_back(dtype == Dtype::int64 ? Int128{static_cast<std::int64_t>(one)} : static_cast<Int128>(one));
    sizes.push_back(values.back() < 0 ? -values.back() : values.back());
    sum += values.back();
    magnitudes += sizes.back();
  }
  const auto n = static_cast<std::int64_t>(bits.size());
  const smd::TensorView view(dtype, {&n, 1}, std::as_bytes(std::span(bits)));
  const auto found = smd::reduce(view, wanted);
  CHECK((integer(found[0]) == *std::min_element(values.begin(), values.end())));
  CHECK((integer(found[1]) == *std::max_element(values.begin(), values.end())));
  CHECK((integer(found[2]) == sum));
  CHECK((integer(found[3]) == magnitudes));
  smd_test::check_alone(view, std::span(wanted).first(4), found);
  if (variances) {
    // Without magnitudes other loops run.
    const auto alone = smd::reduce(view, std::span(wanted).subspan(4, 1));
    CHECK(smd_test::ulps(alone[0].real, variance(values)) <= 2);
    CHECK(smd_test::ulps(found[4].real, variance(values)) <= 2);
    CHECK(smd_test::ulps(found[5].real, variance(sizes)) <= 2);
  }
}

}  // namespace

TEST_CASE("long runs of 64-bit integers") {
  smd_test::with_each_instruction_set([&] {
    smd_test::Random random(9);
    // Sums of at most 53 bits, conversions exact up to 2^51 and 2^53, and larger numbers.
    for (const int size : {3, 41, 42, 50, 53, 54, 62}) {
      CAPTURE(size);
      // The last numbers are much larger than the first ones suggest.
      for (const int later : {size, std::min(size + 3, 62)}) {
        CAPTURE(later);
        std::vector<std::uint64_t> bits(18000);
        for (std::size_t i = 0; i < bits.size(); ++i) {
          const std::uint64_t number = (random.bits() << 11 ^ random.bits()) >> (63 - (i < 13000 ? size : later)) >> 1;
          bits[i] = random.below(2) == 0 ? number : ~number + 1;
        }
        check(Dtype::int64, bits, later <= 54);
        for (std::uint64_t& one : bits) {
          one = static_cast<std::int64_t>(one) < 0 ? ~one + 1 : one;
        }
        check(Dtype::uint64, bits, later <= 54);
        bits[9000] = ~std::uint64_t{0};
        check(Dtype::uint64, bits, false);
        bits[9000] = std::uint64_t{1} << 63;
        check(Dtype::int64, bits, false);
      }
    }
    // The largest possible, all equal: sums grow as fast as possible.
    for (const int size : {41, 51}) {
      CAPTURE(size);
      check(Dtype::int64, std::vector<std::uint64_t>(20000, (std::uint64_t{1} << size) - 1), true);
      check(Dtype::int64, std::vector<std::uint64_t>(20000, std::uint64_t{1} << size), true);
    }
  });
}

TEST_CASE("integers of both signs with magnitudes close together") {
  // |x| is b, b + 1, …, b + n - 1: the mean squared distance of these from their mean is (n^2 - 1) / 12.
  constexpr std::int64_t b = 5'000'000'000'000'000'000;
  const auto abs_variance = *smd::parse_reduction("abs_variance");
  smd_test::with_each_instruction_set([&] {
    for (const std::int64_t n : {2, 6, 2047, 2048, 5000}) {
      CAPTURE(n);
      std::vector<std::int64_t> values;
      for (std::int64_t i = 0; i < n; ++i) {
        values.push_back(i % 3 == 0 ? -b - i : b + i);
      }
      const auto bytes = std::as_bytes(std::span(values));
      const double expected = static_cast<double>(n * n - 1) / 12;
      smd::Reducer whole({&abs_variance, 1});
      whole.add(Dtype::int64, bytes);
      CHECK(smd_test::ulps(whole.result(abs_variance).real, expected) <= 2);
      smd::Reducer split({&abs_variance, 1});
      split.add(Dtype::int64, bytes.first(bytes.size() / 24 * 8));
      split.add(Dtype::int64, bytes.subspan(bytes.size() / 24 * 8));
      CHECK(smd_test::ulps(split.result(abs_variance).real, expected) <= 2);
    }
  });
}
