// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <smd/error.hpp>
#include <smd/reduction.hpp>

#include <string>

TEST_CASE("names of reductions read back") {
  for (const char* name :
       {"min",      "abs_max", "median", "abs_median", "mean",     "std",           "variance",     "sum",    "prod",
        "abs_l1",   "l2",      "count",  "finite",     "nan",      "inf",           "posinf",       "neginf", "zero",
        "negative", "p0",      "p100",   "p99.9",      "abs_p0.5", "zero_fraction", "nan_fraction", "rms"}) {
    CAPTURE(name);
    const std::optional<smd::Reduction> reduction = smd::parse_reduction(name);
    REQUIRE(reduction);
    CHECK(smd::to_string(*reduction) == name);
  }
  CHECK(smd::parse_reduction("p99.90")->percent == 99.9);
}

TEST_CASE("names that are not reductions are refused") {
  for (const char* name : {"", "abs_", "p", "p101", "p-1", "p1e1", "p1.", "p.5", "p1.2.3", "pnan", "Mean", "abs_count",
                           "abs_rms", "abs_abs_min", "l3", "percentile", "mean "}) {
    CAPTURE(name);
    CHECK(!smd::parse_reduction(name));
  }
  const smd::Reduction beyond = {smd::ReductionKind::percentile, false, 100.5};
  CHECK_THROWS_AS(smd::Reducer(std::span(&beyond, 1)), smd::InvalidArgument);
  const smd::Reduction abs_count = {smd::ReductionKind::count, true, 0};
  CHECK_THROWS_AS(smd::Reducer(std::span(&abs_count, 1)), smd::InvalidArgument);
}

TEST_CASE("strings are refused, and results that were not requested") {
  const smd::Reduction mean = {smd::ReductionKind::mean};
  smd::Reducer reducer(std::span(&mean, 1));
  CHECK_THROWS_AS(reducer.add(smd::Dtype::string, {}), smd::InvalidArgument);
  CHECK_THROWS_AS((void)reducer.result({smd::ReductionKind::std}), smd::InvalidArgument);
  const smd::Reduction deviation = {smd::ReductionKind::std};
  CHECK_THROWS_AS(reducer.merge(smd::Reducer(std::span(&deviation, 1))), smd::InvalidArgument);
}
