// SPDX-License-Identifier: Apache-2.0
#include "layout/payload.hpp"

#include <doctest/doctest.h>

#include <bit>

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
  wide.wide = wide.wide_lengths = true;
  wide.starts = arena.keep({7, 6'000'000'000}, true);  // beyond 4 GiB
  wide.lengths = arena.keep({5'999'999'993, 1}, true);
  CHECK(wide.start(1) == 6'000'000'000);
  CHECK(wide.length(0) == 5'999'999'993);
  CHECK(narrow.start(1) == 100);  // no piece moves
}

TEST_CASE("payload: numbers stand in the columns themselves") {
  PayloadArena arena;
  Payload payload;
  payload.wide = payload.wide_lengths = true;
  payload.starts = arena.keep({std::bit_cast<std::uint64_t>(0.1), std::bit_cast<std::uint64_t>(-2.5)}, true);
  payload.lengths = arena.keep({std::bit_cast<std::uint64_t>(1000.5), std::bit_cast<std::uint64_t>(1001.0)}, true);
  CHECK(std::bit_cast<double>(payload.start(0)) == 0.1);
  CHECK(std::bit_cast<double>(payload.start(1)) == -2.5);
  CHECK(payload.number_time(0) == 1000.5);
  CHECK(payload.number_time(1) == 1001);
}

}  // namespace smd::test
