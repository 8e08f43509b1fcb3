// SPDX-License-Identifier: Apache-2.0
#include "layout/payload.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

namespace smd::test {

using namespace detail::layout;

TEST_CASE("payload: columns of 32 and of 64 bits") {
  PayloadArena arena;
  Payload narrow;
  narrow.starts = arena.keep({0, 100, 4294967295}, false);
  narrow.lengths = arena.keep({100, 20, 1}, false);
  CHECK(narrow.start(2) == 4294967295);
  CHECK(narrow.length(1) == 20);
  Payload wide;
  wide.wide = true;
  wide.length_form = LengthForm::wide;
  wide.starts = arena.keep({7, 6'000'000'000}, true);  // beyond 4 GiB
  wide.lengths = arena.keep({5'999'999'993, 1}, true);
  CHECK(wide.start(1) == 6'000'000'000);
  CHECK(wide.length(0) == 5'999'999'993);
  CHECK(narrow.start(1) == 100);  // no piece moves
}

TEST_CASE("payload: numbers stand in the columns themselves") {
  PayloadArena arena;
  Payload payload;
  payload.count = 2;
  payload.wide = true;
  payload.length_form = LengthForm::wide;
  payload.starts = arena.keep({std::bit_cast<std::uint64_t>(0.1), std::bit_cast<std::uint64_t>(-2.5)}, true);
  payload.lengths = arena.keep({std::bit_cast<std::uint64_t>(1000.5), std::bit_cast<std::uint64_t>(1001.0)}, true);
  CHECK(std::bit_cast<double>(payload.start(0)) == 0.1);
  CHECK(std::bit_cast<double>(payload.start(1)) == -2.5);
  CHECK(payload.number_time(0) == 1000.5);
  CHECK(payload.number_time(1) == 1001);
  payload.length_form = LengthForm::one;  // a time for each row
  CHECK(payload.number_time(1) == 1000.5);
  CHECK(payload.of_row(1).number_time(1) == 1001);
  payload.length_form = LengthForm::none;
  CHECK(std::isnan(payload.number_time(1)));
  CHECK(std::isnan(payload.of_row(1).number_time(0)));
}

}  // namespace smd::test
