// SPDX-License-Identifier: Apache-2.0
// Compares percentiles of arrays long enough to be searched during the pass with sorting.
#include <doctest/doctest.h>
#include <smd/reduction.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "each_instruction_set.hpp"
#include "halves.hpp"
#include "values.hpp"

namespace {

using smd::Dtype;

// numpy.percentile, method linear: the place is percent / 100 * (n - 1); interpolates from the nearer neighbour.
double expected(const std::vector<double>& sorted, double percent) {
  const double place = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto at = static_cast<std::size_t>(place);
  const double a = sorted[at];
  const double b = sorted[std::min(at + 1, sorted.size() - 1)];
  const double weight = place - std::floor(place);
  return weight < 0.5 ? a + (b - a) * weight : b - (b - a) * (1 - weight);
}

// `elements` are the stored values.
void check(Dtype dtype, std::span<const std::byte> elements, const std::vector<double>& values) {
  const std::vector<std::pair<const char*, double>> asked = {
      {"median", 50}, {"p1", 1}, {"p99.9", 99.9}, {"p50", 50}, {"p0", 0}, {"p33.3", 33.3}, {"p75", 75}, {"p100", 100}};
  std::vector<smd::Reduction> wanted;
  for (const char* prefix : {"", "abs_"}) {
    for (const auto& [name, percent] : asked) {
      wanted.push_back(smd::parse_reduction(std::string(prefix) + name).value());
    }
  }
  wanted.push_back(smd::parse_reduction("nan").value());
  std::vector<double> sorted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
               [](double value) { return !std::isnan(value); });
  std::vector<double> sizes = sorted;
  std::transform(sizes.begin(), sizes.end(), sizes.begin(), [](double value) { return std::fabs(value); });
  std::sort(sorted.begin(), sorted.end());
  std::sort(sizes.begin(), sizes.end());
  // Not aligned.
  std::vector<std::byte> bytes(1);
  bytes.insert(bytes.end(), elements.begin(), elements.end());
  const auto n = static_cast<std::int64_t>(values.size());
  const smd::TensorView view(dtype, {&n, 1}, std::span(bytes).subspan(1));
  const auto found = smd::reduce(view, wanted, {.omit_nan = true});
  for (std::size_t i = 0; i < asked.size(); ++i) {
    CAPTURE(asked[i].first);
    const double percent = asked[i].second;
    CHECK(smd_test::ulps(found[i].real, expected(sorted, percent)) == 0);
    CHECK(smd_test::ulps(found[asked.size() + i].real, expected(sizes, percent)) == 0);
  }
  const auto median = smd::reduce(view, std::span(wanted).first(1), {.omit_nan = true});
  CHECK(smd_test::ulps(median[0].real, expected(sorted, 50)) == 0);
  CHECK(found.back().low == values.size() - sorted.size());
}

template <class T>
void check(Dtype dtype, const std::vector<T>& values) {
  check(dtype, std::as_bytes(std::span(values)), std::vector<double>(values.begin(), values.end()));
}

template <class T>
std::string text_of(Dtype dtype, const std::vector<T>& values, const char* name) {
  const smd::Reduction wanted = smd::parse_reduction(name).value();
  const auto n = static_cast<std::int64_t>(values.size());
  return to_string(smd::reduce({dtype, {&n, 1}, std::as_bytes(std::span(values))}, {&wanted, 1}).front());
}

// Rounded to the type first.
void check_halves(Dtype dtype, const std::vector<double>& values) {
  const bool brain = dtype == Dtype::bfloat16;
  std::vector<std::uint16_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), brain ? smd_test::bfloat16_bits : smd_test::float16_bits);
  std::vector<double> rounded(values.size());
  std::transform(bits.begin(), bits.end(), rounded.begin(), brain ? smd_test::bfloat16_value : smd_test::float16_value);
  check(dtype, std::as_bytes(std::span(bits)), rounded);
}

}  // namespace

TEST_CASE("percentiles of long arrays") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  smd_test::Random random(21);
  const std::pair<const char*, std::function<double(std::size_t)>> kinds[] = {
      {"even", [&](std::size_t) { return random.number(); }},
      {"around zero", [&](std::size_t) { return std::pow(random.number(), 9); }},
      {"all alike", [](std::size_t) { return -2.5; }},
      {"zeros of both signs", [&](std::size_t) { return random.below(2) == 0 ? 0.0 : -0.0; }},
      {"two values", [&](std::size_t) { return random.below(2) == 0 ? 1.0 : 2.0; }},
      {"three values", [&](std::size_t) { return static_cast<double>(random.below(3)); }},
      {"about half zeros, the least", [&](std::size_t) { return std::max(random.number(), 0.0); }},
      {"about half zeros, the greatest", [&](std::size_t) { return std::min(random.number(), 0.0); }},
      {"each second zero, the least", [&](std::size_t i) { return i % 2 == 0 ? 0.0 : 1.0 + random.number(); }},
      {"each second zero, the greatest", [&](std::size_t i) { return i % 2 == 0 ? 0.0 : -1.0 - random.number(); }},
      {"each second of the least size, below zero",
       [&](std::size_t i) { return i % 2 == 0 ? -1 : 3 + random.number(); }},
      {"mostly alike", [&](std::size_t) { return random.below(9) == 0 ? random.number() : 0.25; }},
      {"rising", [](std::size_t i) { return static_cast<double>(i); }},
      {"one part unlike the other", [&](std::size_t i) { return random.number() + (i < 40000 ? 1e6 : 0); }},
      {"mostly not numbers", [&](std::size_t) { return random.below(50) == 0 ? random.number() : nan; }},
      {"some not numbers", [&](std::size_t) { return random.below(50) == 0 ? nan : random.number(); }},
      {"infinities", [&](std::size_t) { return random.below(3) == 0 ? infinity : random.number(); }},
      {"no numbers but one", [&](std::size_t i) { return i == 60000 ? 3.5 : nan; }},
  };
  bool best = true;
  smd_test::with_each_instruction_set([&] {
    std::size_t turn = 0;
    for (const auto& kind : kinds) {
      CAPTURE(kind.first);
      ++turn;
      // More elements than one part, and not a multiple of it, are slow to sort: only with the best instructions, and
      // of one type.
      for (const std::size_t n : {1000U, best ? 70001U : 3001U}) {
        CAPTURE(n);
        std::vector<double> values(n);
        for (std::size_t i = 0; i < n; ++i) {
          values[i] = kind.second(i);
        }
        if (std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
          values[0] = 1;
        }
        const std::vector<float> narrow(values.begin(), values.end());
        const auto wanted = [&](std::size_t type) { return n < 70000 || turn % 4 == type; };
        if (wanted(0)) {
          check(Dtype::float32, narrow);
        }
        if (wanted(1)) {
          check_halves(Dtype::float16, values);
        }
        if (wanted(2)) {
          check(Dtype::float64, values);
        }
        if (wanted(3)) {
          check_halves(Dtype::bfloat16, values);
        }
      }
    }
    best = false;
  });
}

TEST_CASE("percentiles of integers") {
  smd_test::Random random(22);
  const auto numbers = [](std::size_t n, auto like, auto make) {
    std::vector<decltype(like)> values(n);
    std::generate(values.begin(), values.end(), [&] { return static_cast<decltype(like)>(make()); });
    return values;
  };
  bool best = true;
  smd_test::with_each_instruction_set([&] {
    // With more than 400, 10,000 and 100,000 elements samples are larger.
    for (const std::size_t n : {400U, 401U, 10000U, best ? 10001U : 3001U}) {
      CAPTURE(n);
      const auto any = [&random] { return random.bits(); };
      check(Dtype::int8, numbers(n, std::int8_t{}, any));
      check(Dtype::uint8, numbers(n, std::uint8_t{}, [&random] { return random.below(5); }));
      check(Dtype::boolean, numbers(n, std::uint8_t{}, [&random] { return random.below(3) == 0 ? 1 : 0; }));
      check(Dtype::uint16, numbers(n, std::uint16_t{}, any));
      check(Dtype::int16, numbers(n, std::int16_t{}, any));
      check(Dtype::uint32, numbers(n, std::uint32_t{}, any));
      check(Dtype::int32, numbers(n, std::int32_t{}, any));
      // 53 bits: all are exact as doubles.
      check(Dtype::uint64, numbers(n, std::uint64_t{}, any));
      check(Dtype::int64,
            numbers(n, std::int64_t{}, [&random] { return 5 - static_cast<std::int64_t>(random.bits()); }));
    }
    best = false;
  });
}

TEST_CASE("one of several integers from 2^53 on is exact") {
  constexpr std::int64_t odd = 9007199254740993;  // 2^53 + 1, halfway between two doubles
  for (const char* const name : {"median", "p0", "p50", "p99.9", "p100", "mean", "abs_median", "abs_mean"}) {
    CAPTURE(name);
    CHECK(text_of<std::int64_t>(Dtype::int64, {odd}, name) == "9007199254740993");
    CHECK(text_of<std::uint64_t>(Dtype::uint64, {UINT64_MAX}, name) == "18446744073709551615");
    const bool abs = std::string(name).starts_with("abs");
    CHECK(text_of<std::int64_t>(Dtype::int64, {-odd}, name) == (abs ? "9007199254740993" : "-9007199254740993"));
    CHECK(text_of<std::int64_t>(Dtype::int64, {INT64_MIN}, name) ==
          (abs ? "9223372036854775808" : "-9223372036854775808"));
  }
  for (const std::size_t n : {2U, 3U, 1000U}) {
    CHECK(text_of<std::int64_t>(Dtype::int64, std::vector(n, odd), "median") == "9007199254740993");
    CHECK(text_of<std::int64_t>(Dtype::int64, std::vector(n, odd), "p33.3") == "9007199254740993");
  }
  const std::vector<std::int64_t> several = {odd + 2, odd, odd + 1, -1, odd};  // in order: -1, odd twice, …
  CHECK(text_of(Dtype::int64, several, "p0") == "-1");
  CHECK(text_of(Dtype::int64, several, "median") == "9007199254740993");
  CHECK(text_of(Dtype::int64, several, "p75") == "9007199254740994");
  CHECK(text_of(Dtype::int64, several, "p100") == "9007199254740995");
  // Between two elements that differ, it is a double.
  CHECK(text_of<std::int64_t>(Dtype::int64, {odd, odd - 1}, "median") == "9007199254740992");
  CHECK(text_of<std::uint64_t>(Dtype::uint64, {UINT64_MAX, UINT64_MAX - 1}, "median") == "18446744073709551616");
  // 2^60 and the 70,000 integers after it: 7919 is a prime that does not divide their number.
  std::vector<std::int64_t> many(70001);
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i] = (std::int64_t{1} << 60) + static_cast<std::int64_t>(i * 7919 % many.size());
  }
  CHECK(text_of(Dtype::int64, many, "median") == "1152921504606881976");
  CHECK(text_of(Dtype::int64, many, "abs_p25") == "1152921504606864476");
  CHECK(text_of(Dtype::int64, many, "p100") == "1152921504606916976");
}

TEST_CASE("the mean of one integer is exact, also of one that another process has sent") {
  const smd::Reduction mean = smd::parse_reduction("mean").value();
  const std::int64_t element = INT64_MAX;
  smd::Reducer one({&mean, 1});
  one.add(Dtype::int64, std::as_bytes(std::span(&element, 1)));
  smd::Reducer pooled({&mean, 1});
  pooled.merge(one.partial());
  CHECK(to_string(pooled.result(mean)) == "9223372036854775807");
}

TEST_CASE("percentiles of more elements than a small sample suffices for") {
  smd_test::Random random(23);
  std::vector<float> values((std::size_t{1} << 21) + 1);
  std::generate(values.begin(), values.end(), [&random] { return static_cast<float>(random.number()); });
  check(Dtype::float32, values);
}

TEST_CASE("percentiles of parts that are merged") {
  // Kept in pieces of 65,520: parts that end inside a piece, at its end, and parts of several pieces.
  const std::size_t lengths[] = {70000, 0, 65520, 1, 131040, 200003, 61072};
  smd_test::Random random(24);
  for (const bool mixed : {false, true}) {
    CAPTURE(mixed);
    const std::vector<smd::Reduction> wanted = {*smd::parse_reduction("median"), *smd::parse_reduction("abs_p12.5"),
                                                *smd::parse_reduction("p99.9"), *smd::parse_reduction("count")};
    const smd::ReduceOptions options{.omit_nan = true};
    smd::Reducer copied(wanted, options);
    smd::Reducer moved(wanted, options);
    smd::Reducer added(wanted, options);
    std::vector<double> all;
    std::size_t count = 0;
    for (const std::size_t length : lengths) {
      std::vector<float> part(length);
      std::generate(part.begin(), part.end(), [&random] {
        return random.below(100) == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random.number());
      });
      const std::vector<double> wide(part.begin(), part.end());
      std::copy_if(wide.begin(), wide.end(), std::back_inserter(all), [](double value) { return !std::isnan(value); });
      const bool as_doubles = mixed && length % 2 == 0;
      const auto add_to = [&](smd::Reducer& reducer) {
        reducer.add(as_doubles ? Dtype::float64 : Dtype::float32,
                    as_doubles ? std::as_bytes(std::span(wide)) : std::as_bytes(std::span(part)));
      };
      smd::Reducer own(wanted, options);
      add_to(own);
      add_to(added);
      copied.merge(smd::Reducer(own));
      moved.merge(std::move(own));
      CHECK(own.result(wanted[3]).low == 0);  // cleared by the merge
      count += length;
    }
    moved.merge(smd::Reducer(wanted, options));
    smd::Reducer twice(added);
    twice.merge(smd::Reducer(twice));
    smd::Reducer same(added);
    smd::Reducer& itself = same;
    same.merge(std::move(itself));
    std::vector<double> sizes(all);
    std::transform(sizes.begin(), sizes.end(), sizes.begin(), [](double value) { return std::fabs(value); });
    std::sort(all.begin(), all.end());
    std::sort(sizes.begin(), sizes.end());
    for (const smd::Reducer* const reducer : {&copied, &moved, &added}) {
      CHECK(reducer->result(wanted[0]).real == expected(all, 50));
      CHECK(reducer->result(wanted[1]).real == expected(sizes, 12.5));
      CHECK(reducer->result(wanted[2]).real == expected(all, 99.9));
      CHECK(reducer->result(wanted[3]).low == count);
    }
    const auto doubled = [](const std::vector<double>& sorted) {
      std::vector<double> both(2 * sorted.size());
      std::merge(sorted.begin(), sorted.end(), sorted.begin(), sorted.end(), both.begin());
      return both;
    };
    for (const smd::Reducer* const reducer : {&twice, &same}) {
      CHECK(reducer->result(wanted[0]).real == expected(doubled(all), 50));
      CHECK(reducer->result(wanted[1]).real == expected(doubled(sizes), 12.5));
      CHECK(reducer->result(wanted[3]).low == 2 * count);
    }
    added.clear();
    CHECK(std::isnan(added.result(wanted[0]).real));
    const float three = 3;
    added.add(Dtype::float32, std::as_bytes(std::span(&three, 1)));
    CHECK(added.result(wanted[0]).real == 3);
  }
}
