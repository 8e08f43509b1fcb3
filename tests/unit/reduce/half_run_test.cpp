// SPDX-License-Identifier: Apache-2.0
// Compares reductions of 16-bit floats, in runs long enough to be streamed, with 128-bit integer arithmetic, for every
// instruction set.
#include <doctest/doctest.h>
#include <smd/reduction.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "each_instruction_set.hpp"
#include "halves.hpp"
#include "reduce/doubles.hpp"
#include "values.hpp"

namespace {

using smd::Dtype;
using smd::detail::reduce::Int128;

double value_of(Dtype dtype, std::uint16_t bits) {
  return dtype == Dtype::float16 ? smd_test::float16_value(bits) : smd_test::bfloat16_value(bits);
}

std::vector<smd::ReducedValue> reduce(Dtype dtype, const std::vector<std::uint16_t>& bits, std::size_t offset,
                                      std::span<const smd::Reduction> wanted) {
  // Not aligned, not even to the elements.
  std::vector<std::byte> bytes(bits.size() * sizeof bits[0] + offset);
  std::memcpy(bytes.data() + offset, bits.data(), bytes.size() - offset);
  const auto n = static_cast<std::int64_t>(bits.size());
  const smd::ReduceOptions omit{.omit_nan = true};
  return smd::reduce({dtype, {&n, 1}, std::span(bytes).subspan(offset)}, wanted, omit);
}

// Rounds to 53 bits once: `total` is exact.
double scaled(Int128 total, int unit) { return std::ldexp(static_cast<double>(total), unit); }

// Every finite element is a multiple of 2^unit; sums in these units, and if `spread` also of squares times their
// number, fit 127 bits.
void check(Dtype dtype, const std::vector<std::uint16_t>& bits, int unit, bool spread) {
  double min = std::numeric_limits<double>::infinity();
  double max = -min;
  double least = min;
  Int128 sum = 0;
  Int128 magnitudes = 0;
  Int128 squares = 0;
  Int128 n = 0;
  std::uint64_t nan = 0;
  std::uint64_t zero = 0;
  std::uint64_t negative = 0;
  for (const std::uint16_t one : bits) {
    const double value = value_of(dtype, one);
    if (std::isnan(value)) {
      ++nan;
      continue;
    }
    ++n;
    zero += value == 0 ? 1 : 0;
    negative += value < 0 ? 1 : 0;
    min = std::min(min, value);
    max = std::max(max, value);
    least = std::min(least, std::fabs(value));
    const auto whole = static_cast<Int128>(std::ldexp(value, -unit));
    sum += whole;
    magnitudes += whole < 0 ? -whole : whole;
    squares += spread ? whole * whole : Int128{0};
  }
  std::vector<smd::Reduction> wanted;
  for (const char* name : {"min", "max", "sum", "nan", "l1", "variance", "abs_variance", "abs_min", "zero"}) {
    wanted.push_back(smd::parse_reduction(name).value());
  }
  const auto variance = [&](Int128 total) {
    const double size = static_cast<double>(n);
    return std::ldexp(static_cast<double>(n * squares - total * total), 2 * unit) / (size * size);
  };
  // Without magnitudes, and without a reduction that needs the smallest |x|, other loops run.
  for (const std::size_t count : {std::size_t{4}, std::size_t{7}, wanted.size()}) {
    for (const std::size_t offset : {0U, 1U, 2U}) {
      const auto found = reduce(dtype, bits, offset, std::span(wanted).first(count));
      CHECK(found[0].real == min);
      CHECK(found[1].real == max);
      CHECK(found[2].real == scaled(sum, unit));
      CHECK(found[3].low == nan);
      if (count > 4) {
        CHECK(found[4].real == scaled(magnitudes, unit));
      }
      if (count > 4 && spread) {
        CHECK(smd_test::ulps(found[5].real, variance(sum)) <= 4);
        CHECK(smd_test::ulps(found[6].real, variance(magnitudes)) <= 4);
      }
      if (count > 7) {
        CHECK(found[7].real == least);
        CHECK(found[8].low == zero);
      }
    }
  }
  // Without sums only the bits are looked at.
  std::vector<smd::Reduction> counts;
  for (const char* name : {"min", "max", "nan", "zero", "negative"}) {
    counts.push_back(smd::parse_reduction(name).value());
  }
  for (const std::size_t count : {2U, 4U, 5U}) {
    for (const std::size_t offset : {0U, 1U}) {
      const auto found = reduce(dtype, bits, offset, std::span(counts).first(count));
      CHECK(found[0].real == min);
      CHECK(found[1].real == max);
      if (count > 2) {
        CHECK(found[2].low == nan);
        CHECK(found[3].low == zero);
      }
      if (count > 4) {
        CHECK(found[4].low == negative);
      }
    }
  }
}

constexpr std::size_t counts[] = {6144, 6145, 20031, 70001};

// Random bits with exponents from `low` to `high` (as stored, so that 0 means denormals and zero).
std::vector<std::uint16_t> random_bits(smd_test::Random& random, std::size_t n, int fraction_bits, unsigned low,
                                       unsigned high) {
  std::vector<std::uint16_t> bits(n);
  for (std::uint16_t& one : bits) {
    const auto exponent = static_cast<unsigned>(low + random.below(high - low + 1));
    const auto fraction = static_cast<unsigned>(random.below(1U << fraction_bits));
    one = static_cast<std::uint16_t>(random.below(2) << 15 | exponent << fraction_bits | fraction);
  }
  return bits;
}

}  // namespace

TEST_CASE("long runs of float16") {
  smd_test::with_each_instruction_set([] {
    smd_test::Random random(16);
    for (const std::size_t n : counts) {
      CAPTURE(n);
      // All finite numbers; denormals and zeros; like normal deviates; the largest; one exponent.
      check(Dtype::float16, random_bits(random, n, 10, 0, 30), -24, true);
      check(Dtype::float16, random_bits(random, n, 10, 0, 0), -24, true);
      check(Dtype::float16, random_bits(random, n, 10, 6, 17), -24, true);
      check(Dtype::float16, random_bits(random, n, 10, 30, 30), -24, true);
      auto bits = random_bits(random, n, 10, 15, 15);
      check(Dtype::float16, bits, -24, true);
      bits[n / 2] = 0x7C01;  // NaN with one bit, of each sign
      bits[n - 1] = 0xFC01;
      check(Dtype::float16, bits, -24, true);
    }
  });
}

TEST_CASE("long runs of bfloat16") {
  smd_test::with_each_instruction_set([] {
    smd_test::Random random(17);
    for (const std::size_t n : counts) {
      CAPTURE(n);
      // Like normal deviates, and exponents so far apart that sums need 60, 75 and 100 bits, with and without zeros.
      check(Dtype::bfloat16, random_bits(random, n, 7, 110, 129), 110 - 134, true);
      check(Dtype::bfloat16, random_bits(random, n, 7, 100, 135), 100 - 134, true);
      for (const unsigned low : {90U, 75U, 50U}) {
        CAPTURE(low);
        auto bits = random_bits(random, n, 7, low, 130);
        check(Dtype::bfloat16, bits, static_cast<int>(low) - 134, false);
        bits[n / 3] = 0x8000;
        bits[n / 2] = 0;
        check(Dtype::bfloat16, bits, static_cast<int>(low) - 134, false);
      }
      // One small number among large ones, after the first runs.
      std::vector<std::uint16_t> bits(n, 0x4040);
      bits[n - 1000] = static_cast<std::uint16_t>(60U << 7 | 1);
      check(Dtype::bfloat16, bits, 60 - 134, false);
      bits[n - 2000] = 0xFF81;
      check(Dtype::bfloat16, bits, 60 - 134, false);
    }
  });
}

TEST_CASE("infinities in long runs of 16-bit floats") {
  const smd::Reduction wanted[] = {smd::parse_reduction("min").value(), smd::parse_reduction("max").value(),
                                   smd::parse_reduction("sum").value()};
  const double infinity = std::numeric_limits<double>::infinity();
  smd_test::with_each_instruction_set([&] {
    for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
      CAPTURE(smd::to_string(dtype));
      const auto bits_of = dtype == Dtype::float16 ? smd_test::float16_bits : smd_test::bfloat16_bits;
      for (const double sign : {1.0, -1.0}) {
        std::vector<std::uint16_t> bits(70000, bits_of(-1.5 * sign));
        bits[69000] = bits_of(sign * infinity);
        const auto found = reduce(dtype, bits, 0, wanted);
        CHECK(found[0].real == (sign > 0 ? -1.5 : -infinity));
        CHECK(found[1].real == (sign > 0 ? infinity : 1.5));
        CHECK(found[2].real == sign * infinity);
      }
    }
  });
}

TEST_CASE("long runs of float64 with long significands") {
  const smd::Reduction wanted[] = {
      smd::parse_reduction("sum").value(), smd::parse_reduction("l1").value(), smd::parse_reduction("variance").value(),
      smd::parse_reduction("abs_variance").value(), smd::parse_reduction("abs_min").value()};
  smd_test::with_each_instruction_set([&] {
    smd_test::Random random(64);
    // Odd multiples of 2^-52: the sum is exact in 128 bits, and so are the squares of the distances from the mean.
    for (const bool zeros : {false, true}) {
      CAPTURE(zeros);
      std::vector<double> values(16384 + 4096);
      Int128 sum = 0;
      Int128 magnitudes = 0;
      std::vector<Int128> whole;
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = zeros && i % 64 == 0 ? 0 : random.number();
        whole.push_back(static_cast<Int128>(std::ldexp(values[i], 52)));
        sum += whole.back();
        magnitudes += whole.back() < 0 ? -whole.back() : whole.back();
      }
      const auto n = static_cast<std::int64_t>(values.size());
      const auto variance = [&](bool magnitude) {
        const Int128 total = magnitude ? magnitudes : sum;
        const Int128 mean = total / n;
        Int128 squares = 0;
        for (const Int128 one : whole) {
          const Int128 distance = (magnitude && one < 0 ? -one : one) - mean;
          squares += distance * distance;
        }
        return std::ldexp(static_cast<double>(static_cast<long double>(squares) / static_cast<long double>(n)), -104);
      };
      const auto found = smd::reduce({Dtype::float64, {&n, 1}, std::as_bytes(std::span(values))}, wanted);
      CHECK(found[0].real == std::ldexp(static_cast<double>(sum), -52));
      CHECK(found[1].real == std::ldexp(static_cast<double>(magnitudes), -52));
      CHECK(smd_test::ulps(found[2].real, variance(false)) <= 1);
      CHECK(smd_test::ulps(found[3].real, variance(true)) <= 1);
      if (zeros) {
        CHECK(found[4].real == 0);
      }
    }
  });
}
