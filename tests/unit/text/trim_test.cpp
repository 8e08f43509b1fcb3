// SPDX-License-Identifier: Apache-2.0
#include "text/trim.hpp"

#include <doctest/doctest.h>

using smd::text::trimmed;

TEST_CASE("blanks go at both ends, and only there") {
  CHECK(trimmed("a b") == "a b");
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed("").empty());
  CHECK(trimmed(" \n ").empty());
  CHECK(trimmed("\ta ", " ") == "\ta");
  CHECK(trimmed("  x", " ") == "x");
}
