// SPDX-License-Identifier: Apache-2.0
// Compares reductions of arrays long enough to be streamed with plain arithmetic, for every instruction set.
#include <doctest/doctest.h>
#include <smd/reduction.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "alone.hpp"
#include "each_instruction_set.hpp"
#include "halves.hpp"
#include "reduce/doubles.hpp"
#include "values.hpp"

namespace {

using smd::Dtype;

// Short significands, which every type represents.
std::vector<std::byte> stored(Dtype dtype, const std::vector<double>& values) {
  const std::size_t item = smd::item_size(dtype);
  std::vector<std::byte> bytes(values.size() * item);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto single = static_cast<float>(values[i]);
    const std::uint16_t half =
        dtype == Dtype::float16 ? smd_test::float16_bits(values[i]) : smd_test::bfloat16_bits(values[i]);
    const void* const from = dtype == Dtype::float64   ? static_cast<const void*>(&values[i])
                             : dtype == Dtype::float32 ? static_cast<const void*>(&single)
                                                       : static_cast<const void*>(&half);
    std::memcpy(&bytes[i * item], from, item);
  }
  return bytes;
}

void check(const std::vector<double>& values, double product) {
  std::vector<smd::Reduction> wanted;
  for (const char* name : {"zero", "negative", "abs_min", "abs_max", "prod", "sum", "l1", "median", "abs_median"}) {
    wanted.push_back(smd::parse_reduction(name).value());
  }
  // Multiples of 2^-8 below 2^9: every sum of 20000 is exact.
  double sum = 0;
  double magnitudes = 0;
  std::uint64_t zero = 0;
  std::uint64_t negative = 0;
  std::vector<double> sizes;
  for (const double value : values) {
    sum += value;
    magnitudes += std::fabs(value);
    zero += value == 0 ? 1 : 0;
    negative += value < 0 ? 1 : 0;
    sizes.push_back(std::fabs(value));
  }
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::sort(sizes.begin(), sizes.end());
  const auto middle = [](const std::vector<double>& from) {
    return (from[(from.size() - 1) / 2] + from[from.size() / 2]) / 2;
  };
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    CAPTURE(smd::to_string(dtype));
    const std::vector<std::byte> bytes = stored(dtype, values);
    const auto n = static_cast<std::int64_t>(values.size());
    const auto found = smd::reduce({dtype, {&n, 1}, bytes}, wanted);
    CHECK(found[0].low == zero);
    CHECK(found[1].low == negative);
    CHECK(found[2].real == sizes.front());
    CHECK(found[3].real == sizes.back());
    CHECK(found[4].real == product);
    CHECK(std::signbit(found[4].real) == std::signbit(product));
    CHECK(found[5].real == sum);
    CHECK(found[6].real == magnitudes);
    CHECK(found[7].real == middle(sorted));
    CHECK(found[8].real == middle(sizes));
    smd_test::check_alone({dtype, {&n, 1}, bytes}, wanted, found);
  }
}

}  // namespace

TEST_CASE("long runs of floating point") {
  smd_test::with_each_instruction_set([&] {
    smd_test::Random random(5);
    // Powers of two, each followed by its inverse, and thirty times 3: the product is 3^30, below 2^53.
    std::vector<double> values;
    for (int i = 0; i < 10000; ++i) {
      const double power = std::ldexp(1.0, static_cast<int>(random.below(17)) - 8);
      values.push_back(i % 3 == 0 ? -power : power);
      values.push_back(1 / power);
    }
    for (int i = 0; i < 30; ++i) {
      values[random.below(600) + 600 * static_cast<std::size_t>(i)] *= 3;
    }
    // 3334 of the powers are negative.
    double product = std::pow(3.0, 30);
    check(values, product);
    values[17000] = -values[17000];
    product = -product;
    check(values, product);
    // Zeros make the product zero; the 3335 negative numbers determine its sign.
    values.push_back(0.0);
    values.insert(values.begin() + 9000, 0.0);
    check(values, -0.0);
    values[9000] = -0.0;
    check(values, 0.0);
  });
}

// What the beginning suggests about the rest, for reductions with and without sums.
TEST_CASE("long runs whose beginning differs from the rest") {
  std::vector<smd::Reduction> wanted;
  for (const char* name : {"zero", "negative", "abs_min", "abs_max", "sum", "l1", "prod", "nan"}) {
    wanted.push_back(smd::parse_reduction(name).value());
  }
  bool best = true;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  smd_test::with_each_instruction_set([&] {
    const std::int64_t n = best ? 75000 : 10000;
    for (const double beginning : {0.0, nan, 0x1p-8}) {
      for (const std::size_t every : {0U, best ? 1000U : 0U}) {
        CAPTURE(beginning);
        CAPTURE(every);
        // 2.5 with alternating signs; optionally one NaN per thousand.
        std::vector<double> values(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = i < 600 ? beginning : (every != 0 && i % every == 0 ? nan : (i % 2 == 0 ? 2.5 : -2.5));
        }
        std::size_t numbers = 0;
        double sum = 0;
        double magnitudes = 0;
        std::uint64_t zero = 0;
        std::uint64_t negative = 0;
        double smallest = 2.5;
        for (const double value : values) {
          if (!std::isnan(value)) {
            ++numbers;
            sum += value;
            magnitudes += std::fabs(value);
            zero += value == 0 ? 1 : 0;
            negative += value < 0 ? 1 : 0;
            smallest = std::min(smallest, std::fabs(value));
          }
        }
        // 2.5^19000 / 2^4800 is far beyond double's range.
        const double size = zero != 0 ? 0 : std::numeric_limits<double>::infinity();
        const double product = negative % 2 == 0 ? size : -size;
        for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
          CAPTURE(smd::to_string(dtype));
          const std::vector<std::byte> bytes = stored(dtype, values);
          const smd::TensorView view(dtype, {&n, 1}, bytes);
          const smd::ReduceOptions omit{.omit_nan = true};
          for (std::size_t only = 0; only <= wanted.size(); ++only) {  // each alone, then all
            const bool all = only == wanted.size();
            const auto found = smd::reduce(view, all ? std::span(wanted) : std::span(wanted).subspan(only, 1), omit);
            const auto is = [&](std::size_t which, double value) {
              if (all || only == which) {
                CHECK(found[all ? which : 0].real == value);
              }
            };
            is(0, static_cast<double>(zero));
            is(1, static_cast<double>(negative));
            is(2, smallest);
            is(3, 2.5);
            is(4, sum);
            is(5, magnitudes);
            is(6, product);
            is(7, static_cast<double>(values.size() - numbers));
          }
        }
      }
    }
    best = false;
  });
}

// Then the element nearest to zero is an extreme.
TEST_CASE("long runs of one sign") {
  std::vector<smd::Reduction> wanted;
  for (const char* name : {"min", "max", "sum", "variance", "abs_min", "zero"}) {
    wanted.push_back(smd::parse_reduction(name).value());
  }
  constexpr std::int64_t n = 40000;
  smd_test::with_each_instruction_set([&] {
    for (const double sign : {1.0, -1.0}) {
      for (const bool zeros : {false, true}) {
        CAPTURE(sign);
        CAPTURE(zeros);
        // Quarters of 1 to 100, or of 0 to 99, each 400 times: the mean of 0 … 99 is 49.5, their variance (100^2 - 1)
        // / 12.
        std::vector<double> values(n);
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = sign * 0.25 * static_cast<double>(i % 100 + (zeros ? 0 : 1));
        }
        // One of the zeros has the other sign: the least of equal zeros is -0, the greatest +0.
        if (zeros) {
          values[20000] = -values[20000];
        }
        const double nearest = zeros ? -sign * 0.0 : sign * 0.25;
        const double farthest = sign * (zeros ? 24.75 : 25);
        for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
          CAPTURE(smd::to_string(dtype));
          const std::vector<std::byte> bytes = stored(dtype, values);
          const smd::TensorView view(dtype, {&n, 1}, bytes);
          // With and without a reduction that needs the smallest |x|.
          for (const std::size_t count : {wanted.size() - 2, wanted.size()}) {
            const auto found = smd::reduce(view, std::span(wanted).first(count));
            CHECK(smd_test::ulps(found[0].real, sign > 0 ? nearest : farthest) == 0);
            CHECK(smd_test::ulps(found[1].real, sign > 0 ? farthest : nearest) == 0);
            CHECK(std::signbit(found[0].real) == std::signbit(sign > 0 ? nearest : farthest));
            CHECK(std::signbit(found[1].real) == std::signbit(sign > 0 ? farthest : nearest));
            CHECK(found[2].real == sign * 0.25 * 40000 * (zeros ? 49.5 : 50.5));
            CHECK(smd_test::ulps(found[3].real, 9999.0 / 12 / 16) <= 2);
            if (count == wanted.size()) {
              CHECK(found[4].real == std::fabs(nearest));
              CHECK(found[5].low == (zeros ? 400 : 0));
            }
          }
        }
      }
    }
  });
}

TEST_CASE("long runs of float32 whose sums do not fit a double") {
  std::vector<smd::Reduction> wanted;
  for (const char* name : {"sum", "abs_sum", "mean", "std", "min", "max", "abs_min", "zero"}) {
    wanted.push_back(smd::parse_reduction(name).value());
  }
  constexpr std::int64_t n = 1 << 18;
  smd_test::with_each_instruction_set([&] {
    for (const float tiny : {0x1p-60F, -0x1p-60F}) {
      // 2048 times 1 (-1 in every other run of 4096), and as often 2^-60: 2048 + 2^-49 would need 61 bits. The ones
      // cancel and leave 2^17 * 2^-60; for magnitudes 2^17 + 2^-43 rounds to 2^17; the mean square is 1/2.
      std::vector<float> values(n);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = i % 2 == 1 ? tiny : (i / 4096) % 2 == 0 ? 1.0F : -1.0F;
      }
      // With and without a reduction that needs the smallest |x|.
      for (const std::size_t count : {wanted.size() - 2, wanted.size()}) {
        const smd::TensorView view(Dtype::float32, {&n, 1}, std::as_bytes(std::span(values)));
        const auto found = smd::reduce(view, std::span(wanted).first(count));
        CHECK(found[0].real == std::copysign(0x1p-43, tiny));
        CHECK(found[1].real == 0x1p17);
        CHECK(found[2].real == std::copysign(0x1p-61, tiny));
        CHECK(smd_test::ulps(found[3].real, std::sqrt(0.5)) <= 1);
        CHECK(found[4].real == -1);
        CHECK(found[5].real == 1);
        if (count == wanted.size()) {
          CHECK(found[6].real == 0x1p-60);
          CHECK(found[7].low == 0);
        }
      }
    }
  });
}

// If values repeat, all groups of squares are rounded in the same direction, and errors do not average out.
TEST_CASE("variance of repeating float32 values") {
  const smd::Reduction variances[] = {smd::parse_reduction("variance").value(),
                                      smd::parse_reduction("abs_variance").value()};
  constexpr std::int64_t n = 6144;
  smd_test::with_each_instruction_set([&] {
    smd_test::Random random(3);
    for (int round = 0; round < 120; ++round) {
      CAPTURE(round);
      const std::size_t period = round % 2 == 0 ? 8 : 64;
      // Multiples of 2^-27, so that sums and sums of squares of integers are exact: from 0.2 to 1, where the mean
      // accounts for most of the squares; from -1 to 1, uniform and concentrated about 0, where squares are added in
      // groups.
      std::vector<float> tile(period);
      smd::detail::reduce::Int128 sum = 0;
      smd::detail::reduce::Int128 magnitudes = 0;
      smd::detail::reduce::Int128 squares = 0;
      for (float& value : tile) {
        const double number = random.number();
        value = static_cast<float>(round % 3 == 0   ? 0.6 + 0.4 * number
                                   : round % 3 == 1 ? number
                                                    : number * number * number);
        const auto scaled = static_cast<std::int64_t>(std::ldexp(value, 27));
        value = static_cast<float>(std::ldexp(static_cast<double>(scaled), -27));
        sum += scaled;
        magnitudes += std::abs(scaled);
        squares += smd::detail::reduce::Int128{scaled} * scaled;
      }
      std::vector<float> values(n);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = tile[i % period];
      }
      const auto p = static_cast<std::int64_t>(period);
      const auto expected = [&](smd::detail::reduce::Int128 total) {
        return std::ldexp(static_cast<double>(p * squares - total * total), -54) / static_cast<double>(p * p);
      };
      const auto found = smd::reduce({Dtype::float32, {&n, 1}, std::as_bytes(std::span(values))}, variances);
      CHECK(smd_test::ulps(found[0].real, expected(sum)) <= 2);
      CHECK(smd_test::ulps(found[1].real, expected(magnitudes)) <= 2);
      const auto alone =
          smd::reduce({Dtype::float32, {&n, 1}, std::as_bytes(std::span(values))}, std::span(variances).first(1));
      CHECK(smd_test::ulps(alone[0].real, expected(sum)) <= 2);
    }
  });
}
