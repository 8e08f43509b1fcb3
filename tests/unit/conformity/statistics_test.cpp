// SPDX-License-Identifier: Apache-2.0
#include "recorded.hpp"

#include <smd/reduction.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

// Compares statistics of every recorded value of real numbers with NumPy's counts and extremes, and with mean and
// deviation in exact arithmetic.
namespace smd::test {
namespace {

/// Returns whether two numbers are equal, including infinities and NaN, or within `tolerance`.
bool close(double actual, double expected, double tolerance) {
  if (std::isnan(expected) || std::isinf(expected)) {
    return std::isnan(expected) ? std::isnan(actual) : actual == expected;
  }
  return std::abs(actual - expected) <= tolerance;
}

constexpr double relative_error = 1e-12;

void check_extreme(double actual, const Json& record, const std::string& name) {
  CAPTURE(name);
  if (record.contains("written_reductions")) {
    CHECK(close(actual, recorded_number(record.at("written_reductions").at(name).at(0)), 0));
  } else if (const Json& answer = record.at("reductions").at(name); answer.at(2) == "computed") {
    CHECK(close(actual, recorded_number(answer.at(0)), 0));
  }
}

struct Statistics {
  std::uint64_t size = 0, nan = 0, inf = 0, zero = 0;
  double min = 0, max = 0, mean = 0, std = 0;
};

Statistics statistics(const TensorView& view) {
  constexpr std::array<Reduction, 8> wanted = {{{ReductionKind::count},
                                                {ReductionKind::nan},
                                                {ReductionKind::inf},
                                                {ReductionKind::zero},
                                                {ReductionKind::min},
                                                {ReductionKind::max},
                                                {ReductionKind::mean},
                                                {ReductionKind::std}}};
  const std::vector<ReducedValue> all = reduce(view, wanted);
  return {all[0].low, all[1].low, all[2].low, all[3].low, all[4].real, all[5].real, all[6].real, all[7].real};
}

void check_statistics(const Statistics& actual, const Json& record) {
  const Json& numpy = record.at("numpy");
  CHECK(actual.size == numpy.at("count").get<std::uint64_t>());
  CHECK(actual.nan == numpy.at("nan").get<std::uint64_t>());
  CHECK(actual.inf == numpy.at("posinf").get<std::uint64_t>() + numpy.at("neginf").get<std::uint64_t>());
  CHECK(actual.zero == numpy.at("zero").get<std::uint64_t>());
  check_extreme(actual.min, record, "min");
  check_extreme(actual.max, record, "max");

  const Json& exact = record.at("exact");
  double mean = recorded_number(exact.at("mean"));
  if (actual.nan == 0 && numpy.at("neginf") > 0 && numpy.at("posinf") == 0) {
    // Recorded as NaN if the finite numbers overflow before they are combined with the infinity; their sum is finite.
    mean = -HUGE_VAL;
  }
  const double std = recorded_number(exact.at("std"));
  CAPTURE(actual.mean);
  CAPTURE(mean);
  CAPTURE(actual.std);
  CAPTURE(std);
  // If positive and negative numbers cancel, a rounding error is relative to their magnitude, not to their sum.
  CHECK(close(actual.mean, mean, relative_error * recorded_number(exact.at("abs_mean"))));
  CHECK(close(actual.std, std, relative_error * std));
}

}  // namespace

TEST_CASE("statistics of every recorded value equal NumPy's and the exact ones") {
  std::size_t compared = 0;
  for_each_trial([&](const Recorded& trial, const Trial& opened) {
    for_each_record(trial, [&](const std::string& name, const Json& record) {
      if (!record.contains("numpy")) {
        return;
      }
      const TensorValue value =
          opened.tensor(name).value(GlobalStep(record.at("global_step")), right(record, "worker"));
      REQUIRE(is_real(value.dtype()));
      check_statistics(statistics(value.view()), record);
      ++compared;
    });
  });
  CHECK(compared == 1343);  // the number of values with recorded statistics of NumPy
}

}  // namespace smd::test
