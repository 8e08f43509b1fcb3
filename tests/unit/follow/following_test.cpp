// SPDX-License-Identifier: Apache-2.0
#include "follow/following.hpp"

#include "cli/exit_status.hpp"

#include <doctest/doctest.h>

#include <chrono>

using smd::tool::duration_text;
using smd::tool::parse_duration;
using namespace std::chrono_literals;

TEST_CASE("durations are seconds unless a unit follows") {
  CHECK(parse_duration("30") == 30s);
  CHECK(parse_duration("1.5s") == 1500ms);
  CHECK(parse_duration("5m") == 5min);
  CHECK(parse_duration("2h") == 2h);
  CHECK(parse_duration("0") == 0s);
  for (const char* const text : {"", "s", "-1", "1d", "1 s", "5mm", "nan", "inf", "1e3", "100000001"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)parse_duration(text), smd::tool::InvalidValue);
  }
}

TEST_CASE("messages name durations in the largest unit that is whole") {
  CHECK(duration_text(7200s) == "2h");
  CHECK(duration_text(5400s) == "90m");
  CHECK(duration_text(90s) == "90s");
  CHECK(duration_text(1500ms) == "1.5s");
  CHECK(duration_text(0s) == "0s");
}
