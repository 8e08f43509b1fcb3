// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "reduce/doubles.hpp"
#include "reduce/exact_sum.hpp"
#include "values.hpp"

using smd::detail::reduce::ExactSum;

TEST_CASE("an exact sum rounds once, to even") {
  ExactSum sum;
  CHECK(sum.rounded() == 0);
  sum.add(1);
  sum.add(0x1p-53);  // a tie: 1 is even
  CHECK(sum.rounded() == 1);
  CHECK(sum.pair().lo == 0x1p-53);
  sum.add(0x1p-1074);  // slightly more than the tie
  CHECK(sum.rounded() == 1 + 0x1p-52);
  sum.add(-1);
  sum.add(-0x1p-53);
  CHECK(sum.rounded() == 0x1p-1074);
  sum.add(-0x1p-1073);
  CHECK(sum.rounded() == -0x1p-1074);
}

TEST_CASE("an exact sum may exceed the range of double temporarily") {
  const double huge = std::numeric_limits<double>::max();
  ExactSum sum;
  for (int i = 0; i < 5000; ++i) {
    sum.add(huge);
  }
  CHECK(sum.rounded() == std::numeric_limits<double>::infinity());
  for (int i = 0; i < 10000; ++i) {
    sum.add(-huge);
  }
  CHECK(sum.rounded() == -std::numeric_limits<double>::infinity());
  for (int i = 0; i < 5000; ++i) {
    sum.add(huge);
  }
  sum.add(3);
  CHECK(sum.rounded() == 3);
}

TEST_CASE("the result does not depend on order and grouping of additions") {
  smd_test::Random random(5);
  ExactSum forth;
  ExactSum parts[3];
  smd::detail::reduce::Int128 truth = 0;  // in units of 2^-40
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(std::floor(random.number() * 0x1p50), static_cast<int>(random.below(40)) - 40);
    truth += static_cast<smd::detail::reduce::Int128>(std::ldexp(value, 40));
    forth.add(value);
    parts[random.below(3)].add(value);
  }
  parts[2].add(parts[0]);
  parts[2].add(parts[1]);
  // The conversion of a 128-bit integer also rounds once; 2^-40 is a power of two.
  CHECK(forth.rounded() == std::ldexp(static_cast<double>(truth), -40));
  CHECK(parts[2].rounded() == forth.rounded());
}
