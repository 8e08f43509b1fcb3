// SPDX-License-Identifier: Apache-2.0
#include "text/time.hpp"

#include <doctest/doctest.h>

using smd::text::seconds_of_time;

TEST_CASE("a time of RFC 3339 is seconds since 1970") {  // answers of GNU date
  CHECK(seconds_of_time("2024-05-01T12:00:00Z", true) == 1714564800);
  CHECK(seconds_of_time("2024-05-01 12:00:00.25z", true) == 1714564800.25);
  CHECK(seconds_of_time("2024-05-01t12:00:00+02:00", true) == 1714557600);
  CHECK(seconds_of_time("2024-05-01T12:00:00-0330", true) == 1714577400);
  CHECK(seconds_of_time("1969-12-31T23:59:59Z", true) == -1);
  CHECK(seconds_of_time("2024-05-01T12:00:00", false) == 1714564800);
}

TEST_CASE("so is one of ISO 8601 without hyphens and colons, seconds or time of day, or with a comma") {
  CHECK(seconds_of_time("20240501T120000Z", true) == 1714564800);
  CHECK(seconds_of_time("20240501T120000.5+0200", true) == 1714557600.5);
  CHECK(seconds_of_time("2024-05-01T12:00Z", true) == 1714564800);
  CHECK(seconds_of_time("2024-05-01 12:00", false) == 1714564800);
  CHECK(seconds_of_time("2024-05-01", false) == 1714521600);
  CHECK(seconds_of_time("2024-05-01 12:00:00,25", false) == 1714564800.25);  // Python's logging
  for (const char* const text : {"2024-05-01T12:00:00,", "2024-05-01T12:00.5", "2024-05-01.5", "2024-05-01T",
                                 "2024-05-01T12", "20240501", "20240230T120000Z"}) {
    CAPTURE(text);
    CHECK_FALSE(seconds_of_time(text, false));
  }
  CHECK_FALSE(seconds_of_time("2024-05-01", true));
}

TEST_CASE("what is no time is none") {
  for (const char* const text :
       {"", "2024", "2024-02-30T00:00:00Z", "2024-13-01T00:00:00Z", "2024-05-01T24:00:00Z", "2024-05-01T12:60:00Z",
        "2024-05-01T12:00:00.Z", "2024-05-01T12:00:00+2", "2024-05-01T12:00:00+", "2024-05-01T12:00:00+24:00",
        "2024-05-01T12:00:00Z ", "2024-05-01X12:00:00Z", "2024-05-01T12:00:00+02:0"}) {
    CAPTURE(text);
    CHECK_FALSE(seconds_of_time(text, true));
    CHECK_FALSE(seconds_of_time(text, false));
  }
  CHECK_FALSE(seconds_of_time("2024-05-01T12:00:00", true));
}
