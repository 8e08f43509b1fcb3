// SPDX-License-Identifier: Apache-2.0
#include "layout/series_rows.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using smd::detail::layout::HistogramReductions;
using smd::detail::layout::reductions_of;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
enum Place { min, max, sum, mean, l2, variance, deviation, num };

}  // namespace

TEST_CASE("reductions of a histogram's sums") {
  // Of 1, 2, 3, 6: sum 12, mean 3, squares 1 + 4 + 9 + 36 = 50, variance 50 / 4 - 9 = 3.5.
  const HistogramReductions all = reductions_of({.min = 1, .max = 6, .num = 4, .sum = 12, .sum_squares = 50});
  CHECK(all[min] == 1);
  CHECK(all[max] == 6);
  CHECK(all[sum] == 12);
  CHECK(all[mean] == 3);
  CHECK(all[l2] == std::sqrt(50.0));
  CHECK(all[variance] == 3.5);
  CHECK(all[deviation] == std::sqrt(3.5));
  CHECK(all[num] == 4);
}

TEST_CASE("equal elements have no variance, however large they are") {
  CHECK(reductions_of({.min = 2.5, .max = 2.5, .num = 50, .sum = 125, .sum_squares = 312.5})[variance] == 0);
  CHECK(reductions_of({.min = 1e200, .max = 1e200, .num = 2, .sum = 2e200, .sum_squares = infinity})[variance] == 0);
  CHECK(reductions_of({.min = 0, .max = 0, .num = 3, .sum = 0, .sum_squares = 0})[deviation] == 0);
}

TEST_CASE("a variance of sums that are not finite is NaN") {
  const auto all = reductions_of({.min = -1, .max = infinity, .num = 3, .sum = infinity, .sum_squares = infinity});
  CHECK(all[mean] == infinity);
  CHECK(std::isnan(*all[variance]));
  CHECK(std::isnan(*all[deviation]));
  const auto same =
      reductions_of({.min = infinity, .max = infinity, .num = 1, .sum = infinity, .sum_squares = infinity});
  CHECK(std::isnan(*same[variance]));
}

TEST_CASE("a variance that is lost in rounding is not given") {
  // Mean square 1 + 1e-15, of which 1e-15 would be the variance; at 3e-14 enough is left.
  const auto lost = reductions_of({.min = 0, .max = 2, .num = 1, .sum = 1, .sum_squares = 1 + 1e-15});
  CHECK_FALSE(lost[variance]);
  CHECK_FALSE(lost[deviation]);
  CHECK(lost[mean] == 1);
  CHECK(reductions_of({.min = 0, .max = 2, .num = 1, .sum = 1, .sum_squares = 1 + 3e-14})[variance]);
  CHECK_FALSE(reductions_of({.min = 0, .max = 2, .num = 1, .sum = 1, .sum_squares = 0.5})[variance]);
}

TEST_CASE("a histogram of no elements says nothing") {
  for (const auto& reduction : reductions_of({.min = 1e308, .max = -1e308, .num = 0, .sum = 0, .sum_squares = 0})) {
    CHECK_FALSE(reduction);
  }
}
