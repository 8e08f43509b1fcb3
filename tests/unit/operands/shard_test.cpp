// SPDX-License-Identifier: Apache-2.0
#include "operands/shard.hpp"

#include <doctest/doctest.h>

#include <cstddef>

#include "cli/command_line.hpp"

using smd::tool::InvalidValue;
using smd::tool::parts_text;
using smd::tool::Shard;

TEST_CASE("parts follow one another, cover everything and differ in size by one at most") {
  for (std::size_t things = 0; things < 12; ++things) {
    for (std::uint64_t count = 1; count < 15; ++count) {
      CAPTURE(things);
      CAPTURE(count);
      std::size_t next = 0;
      for (std::uint64_t index = 1; index <= count; ++index) {
        const auto [begin, end] = Shard{index, count}.range(things);
        CHECK(begin == next);
        const std::size_t size = end - begin;
        CHECK((size == things / count || size == things / count + 1));
        next = end;
      }
      CHECK(next == things);
    }
  }
}

TEST_CASE("parts by their numbers, five at most") {
  CHECK(parts_text({2}, 4) == "part 2 of 4");
  CHECK(parts_text({2, 3}, 4) == "parts 2, 3 of 4");
  CHECK(parts_text({1, 2, 3, 4, 5, 6, 7}, 9) == "parts 1, 2, 3, 4, 5 and 2 more of 9");
}

TEST_CASE("a part is written I/N, from 1") {
  CHECK(Shard::parse("2/3") == Shard{2, 3});
  CHECK(Shard::parse("1/1") == Shard{1, 1});
  for (const char* const text : {"0/3", "4/3", "1/0", "2", "/3", "2/", "-1/3", "a/b", "1/2/3", ""}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Shard::parse(text), InvalidValue);
  }
}
