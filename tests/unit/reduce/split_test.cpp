// SPDX-License-Identifier: Apache-2.0
// However elements are split into calls, merged reducers or partial results, the statistics are the same.
#include <doctest/doctest.h>
#include <smd/error.hpp>
#include <smd/reduction.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "each_instruction_set.hpp"
#include "values.hpp"

namespace {

using smd::Dtype;
using smd_test::Random;

std::vector<smd::Reduction> wanted(bool with_values) {
  std::vector<smd::Reduction> list;
  for (const char* name :
       {"min",     "max",     "mean",     "std",     "variance",     "sum",      "prod",     "l1",           "l2",
        "abs_min", "abs_max", "abs_mean", "abs_std", "abs_variance", "abs_sum",  "abs_prod", "count",        "finite",
        "nan",     "inf",     "posinf",   "neginf",  "zero",         "negative", "rms",      "zero_fraction"}) {
    list.push_back(smd::parse_reduction(name).value());
  }
  if (with_values) {
    list.push_back(smd::parse_reduction("median").value());
    list.push_back(smd::parse_reduction("abs_p90").value());
  }
  return list;
}

// Numbers whose kind changes between stretches.
std::vector<double> numbers(Random& random, std::size_t n) {
  std::vector<double> values(n);
  const std::uint64_t kind = random.below(7);
  for (std::size_t i = 0; i < n; ++i) {
    const double x = random.number();
    switch (kind) {
      case 0:
        values[i] = x;
        break;
      case 1:
        values[i] = x > 0 ? x : 0;
        break;
      case 2:
        values[i] = 1e8 + x;
        break;
      case 3:
        values[i] = x * std::exp2(static_cast<double>(random.below(200)) - 100);
        break;
      case 4:
        values[i] = x > 0 ? 0.1 : -0.1;
        break;
      case 5:
        values[i] = i < n / 2 ? x : 1000 + x;
        break;
      default:
        values[i] = i % 2 == 0 ? x * 1e15 : -values[i - 1];
    }
  }
  return values;
}

void check_same(const smd::Reducer& whole, const smd::Reducer& parts, const std::vector<smd::Reduction>& list) {
  for (const smd::Reduction& reduction : list) {
    CAPTURE(smd::to_string(reduction));
    const smd::ReducedValue a = whole.result(reduction);
    const smd::ReducedValue b = parts.result(reduction);
    CHECK(a.kind == b.kind);
    CHECK(a.high == b.high);
    CHECK(a.low == b.low);
    using Kind = smd::ReductionKind;
    const bool exact = smd::needs_values(reduction) || reduction.kind == Kind::min || reduction.kind == Kind::max ||
                       ((reduction.kind == Kind::sum || reduction.kind == Kind::mean) && !reduction.abs);
    CHECK(smd_test::ulps(a.real, b.real) <= (exact ? 0 : 2));
    CHECK(std::signbit(a.real) == std::signbit(b.real));
  }
}

template <class T>
void try_splits(Dtype dtype, const std::vector<T>& values, Random& random) {
  const auto bytes = std::as_bytes(std::span(values));
  const std::vector<smd::Reduction> list = wanted(true);
  smd::Reducer whole(list);
  whole.add(dtype, bytes);
  for (int round = 0; round < 3; ++round) {
    // In several calls,
    smd::Reducer streamed(list);
    // in several reducers merged in either direction,
    smd::Reducer merged(list);
    // and with partial results, which do not support percentiles.
    const std::vector<smd::Reduction> without = wanted(false);
    smd::Reducer pooled(without);
    for (std::size_t at = 0; at < values.size();) {
      const std::size_t n = std::min<std::size_t>(values.size() - at, 1 + random.below(round == 0 ? 100 : 9000));
      const auto part = bytes.subspan(at * sizeof(T), n * sizeof(T));
      streamed.add(dtype, part);
      smd::Reducer one(list);
      one.add(dtype, part);
      if (random.below(2) == 0) {
        merged.merge(std::move(one));
      } else {
        one.merge(std::move(merged));
        merged = std::move(one);
      }
      smd::Reducer shard(without);
      shard.add(dtype, part);
      pooled.merge(shard.partial());
      at += n;
    }
    check_same(whole, streamed, list);
    check_same(whole, merged, list);
    check_same(whole, pooled, without);
  }
}

}  // namespace

TEST_CASE("splits of doubles and floats") {
  Random random(11);
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    const std::vector<double> values = numbers(random, 1 + random.below(20000));
    try_splits(Dtype::float64, values, random);
    std::vector<float> narrow(values.begin(), values.end());
    if (round % 4 == 3) {
      narrow[narrow.size() / 2] = std::numeric_limits<float>::infinity();
      narrow[narrow.size() / 3] = -0.0F;
    }
    try_splits(Dtype::float32, narrow, random);
  }
}

TEST_CASE("splits of integers") {
  Random random(12);
  for (int round = 0; round < 4; ++round) {
    const std::size_t n = 1 + random.below(12000);
    std::vector<std::int64_t> wide(n);
    std::vector<std::uint64_t> positive(n);
    std::vector<std::int8_t> narrow(n);
    std::vector<std::uint16_t> half(n);
    for (std::size_t i = 0; i < n; ++i) {
      wide[i] = static_cast<std::int64_t>(random.bits() * random.bits());
      positive[i] = random.bits() * random.bits();
      narrow[i] = static_cast<std::int8_t>(random.bits());
      half[i] = static_cast<std::uint16_t>(random.bits());
    }
    wide[0] = std::numeric_limits<std::int64_t>::min();
    try_splits(Dtype::int64, wide, random);
    try_splits(Dtype::uint64, positive, random);
    try_splits(Dtype::int8, narrow, random);
    try_splits(Dtype::float16, half, random);  // any bits, including every kind of NaN
    try_splits(Dtype::bfloat16, half, random);
  }
}

// With few elements, rounding errors of distances above 2^53 would not average out.
TEST_CASE("variance of three integers far apart") {
  const std::int64_t values[] = {-3110754996136689478, -3110627432037296940, 9187295775427974356};
  const auto count = static_cast<std::int64_t>(std::size(values));
  smd_test::with_each_instruction_set([&] {
    const auto real = [&](const char* name) {
      const smd::Reduction one[] = {smd::parse_reduction(name).value()};
      return smd::reduce({Dtype::int64, {&count, 1}, std::as_bytes(std::span(values))}, one)[0].real;
    };
    // From Python's fractions: m = F(sum(v), 3); float(sum((x - m) ** 2 for x in v) / 3), of v and of their
    // magnitudes.
    CHECK(real("variance") == 3.36089964458853e+37);
    CHECK(real("abs_variance") == 8.205582890469882e+36);
  });
}

// The distance between the means of two parts is small compared with the means, which need more than 64 bits.
TEST_CASE("variance of integers close together and far from 0, in parts") {
  // Found by fuzzing: ten numbers, one of which is 35 less. The sum of squares about their mean is 35^2 * 9 / 10, so
  // the variance is 110.25, however they are split.
  constexpr std::int64_t alike = -0x4242424242424243;
  std::vector<std::int64_t> values(10, alike);
  values[0] = alike - 35;
  const smd::Reduction wanted_here[] = {smd::parse_reduction("variance").value(),
                                        smd::parse_reduction("abs_variance").value()};
  const auto bytes = std::as_bytes(std::span(values));
  for (std::size_t cut = 0; cut <= values.size(); ++cut) {
    CAPTURE(cut);
    smd::Reducer head(wanted_here);
    head.add(Dtype::int64, bytes.first(cut * 8));
    smd::Reducer tail(wanted_here);
    tail.add(Dtype::int64, bytes.subspan(cut * 8));
    head.merge(std::move(tail));
    CHECK(smd_test::ulps(head.result(wanted_here[0]).real, 110.25) <= 2);
    CHECK(smd_test::ulps(head.result(wanted_here[1]).real, 110.25) <= 2);
  }
  // Many blocks of one array with different means: half are 2^63, half 2 more; the variance is 1.
  std::vector<std::uint64_t> many(9000, std::uint64_t{1} << 63);
  std::fill(many.begin() + 4500, many.end(), (std::uint64_t{1} << 63) + 2);
  smd::Reducer whole(wanted_here);
  whole.add(Dtype::uint64, std::as_bytes(std::span(many)));
  CHECK(smd_test::ulps(whole.result(wanted_here[0]).real, 1) <= 2);
  CHECK(smd_test::ulps(whole.result(wanted_here[1]).real, 1) <= 2);
}

TEST_CASE("types may be mixed") {
  const std::vector<smd::Reduction> list = wanted(true);
  smd::Reducer reducer(list);
  const std::int64_t big[] = {std::int64_t{1} << 62, 3};
  const float small[] = {0.5F, -2};
  const std::uint8_t truth[] = {1, 0, 7};
  reducer.add(Dtype::int64, std::as_bytes(std::span(big)));
  reducer.add(Dtype::float32, std::as_bytes(std::span(small)));
  reducer.add(Dtype::boolean, std::as_bytes(std::span(truth)));
  const auto real = [&reducer](const char* name) { return reducer.result(smd::parse_reduction(name).value()).real; };
  CHECK(real("count") == 7);
  CHECK(real("min") == -2);
  CHECK(real("max") == 0x1p62);
  CHECK(real("median") == 1);    // -2 0 0.5 1 1 3 2^62
  CHECK(real("sum") == 0x1p62);  // 2^62 + 3.5; neighbouring doubles are 1024 apart
  CHECK(real("negative") == 1);
  CHECK(reducer.result(smd::parse_reduction("sum").value()).kind == smd::ReducedValue::Kind::real);
}

TEST_CASE("a reducer merged with itself counts twice") {
  const std::vector<smd::Reduction> list = wanted(true);
  smd::Reducer reducer(list);
  const float values[] = {1, 2};
  reducer.add(Dtype::float32, std::as_bytes(std::span(values)));
  smd::Reducer& itself = reducer;
  reducer.merge(std::move(itself));
  CHECK(reducer.result({smd::ReductionKind::count}).low == 4);
  CHECK(reducer.result({smd::ReductionKind::variance}).real == 0.25);
  CHECK(reducer.result({smd::ReductionKind::median}).real == 1.5);
}

TEST_CASE("a cleared reducer forgets earlier elements") {
  const std::vector<smd::Reduction> list = wanted(true);
  Random random(13);
  smd::Reducer used(list);
  std::vector<smd::ReducedValue> results(list.size());
  for (int round = 0; round < 30; ++round) {
    const std::vector<double> values = numbers(random, 1 + random.below(9000));
    smd::Reducer fresh(list);
    used.clear();
    if (round % 5 == 4) {  // other types use other fields
      const std::complex<double> number(1, std::numeric_limits<double>::infinity());
      used.add(Dtype::complex128, std::as_bytes(std::span(&number, 1)));
      const std::int64_t integer = -7;
      used.add(Dtype::int64, std::as_bytes(std::span(&integer, 1)));
      const float nothing = std::numeric_limits<float>::quiet_NaN();
      used.add(Dtype::float32, std::as_bytes(std::span(&nothing, 1)));
      used.clear();
    }
    used.add(Dtype::float64, std::as_bytes(std::span(values)));
    fresh.add(Dtype::float64, std::as_bytes(std::span(values)));
    used.results(results);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const smd::ReducedValue expected = fresh.result(list[i]);
      CHECK(results[i].kind == expected.kind);
      CHECK(smd_test::ulps(results[i].real, expected.real) == 0);
      CHECK(results[i].low == expected.low);
    }
  }
  CHECK_THROWS_AS(used.results(std::span(results).first(3)), smd::InvalidArgument);
  used.clear();
  CHECK(used.result({smd::ReductionKind::count}).low == 0);
}
