// SPDX-License-Identifier: Apache-2.0
#include "text/trim.hpp"
#include "text/path.hpp"

#include <doctest/doctest.h>

using smd::text::is_file_of;
using smd::text::list_items;
using smd::text::trimmed;

TEST_CASE("blanks go at both ends, and only there") {
  CHECK(trimmed("a b") == "a b");
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed("").empty());
  CHECK(trimmed(" \n ").empty());
  CHECK(trimmed("\ta ", " ") == "\ta");
  CHECK(trimmed("  x", " ") == "x");
}

TEST_CASE("the items of a list between commas") {
  using Items = std::vector<std::string>;
  CHECK(list_items("a, b c\t,d") == Items{"a", "b c", "d"});
  CHECK(list_items(",a,, ,") == Items{"a"});
  CHECK(list_items("a ,b", "") == Items{"a ", "b"});
  CHECK(list_items("").empty());
}

TEST_CASE("a trial is refused for a file in it, or for its own path") {
  CHECK(is_file_of("runs/a/", "metrics.csv"));
  CHECK(is_file_of("metrics.csv.d", "metrics.csv"));  // names that only begin alike
  CHECK_FALSE(is_file_of("runs/a/", "runs/a"));
  CHECK_FALSE(is_file_of("runs/a", "runs/a/debug-output"));
  CHECK_FALSE(is_file_of("s3://bucket/run", "s3://bucket"));
  CHECK_FALSE(is_file_of("runs/a", ""));
}
