// SPDX-License-Identifier: Apache-2.0
#include "draw/curve.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

using smd::tool::GapFinder;

namespace {

using Places = std::vector<std::size_t>;

Places gaps_of(std::initializer_list<std::int64_t> steps) {
  GapFinder finder;
  for (const std::int64_t step : steps) {
    finder.add(step);
  }
  return finder.gaps();
}

}  // namespace

TEST_CASE("steps that are missing leave a gap") {
  CHECK(gaps_of({0, 1, 2, 5, 6, 7}) == Places{3});
  CHECK(gaps_of({0, 10, 20, 40, 50}) == Places{3});
  CHECK(gaps_of({0, 1, 2, 3, 100}) == Places{4});
  CHECK(gaps_of({0, 100, 101, 102, 103}) == Places{1});
  CHECK(gaps_of({0, 1, 2, 9, 10, 11, 30, 31}) == Places{3, 6});
}

TEST_CASE("another distance from some step on is no gap") {
  CHECK(gaps_of({}).empty());
  CHECK(gaps_of({5}).empty());
  CHECK(gaps_of({5, 5000}).empty());
  CHECK(gaps_of({0, 1, 2, 3, 100, 200, 300}).empty());
  CHECK(gaps_of({0, 100, 200, 201, 202}).empty());
  CHECK(gaps_of({0, 100, 200, 299}).empty());
  CHECK(gaps_of({1, 2, 4, 8, 16, 32}).empty());
}

TEST_CASE("a step without its number leaves a gap") {
  GapFinder finder;
  finder.skip();  // nothing before it to be joined
  finder.add(1);
  finder.add(2);
  finder.skip();
  finder.add(4);
  finder.add(5);
  CHECK(finder.gaps() == Places{2});
}

TEST_CASE("steps may lie as far apart as they can") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  CHECK(gaps_of({least, least + 1, greatest - 1, greatest}) == Places{2});
}
