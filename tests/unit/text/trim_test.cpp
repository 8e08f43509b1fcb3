// SPDX-License-Identifier: Apache-2.0
#include "text/trim.hpp"
#include "text/path.hpp"

#include <doctest/doctest.h>

using smd::text::is_inside_trial;
using smd::text::lies_in;
using smd::text::list_items;
using smd::text::trimmed;
using smd::text::without_slashes;

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

TEST_CASE("the file of a problem is inside the trial, unless its path is the trial's or that of a folder around it") {
  CHECK(is_inside_trial("metrics.csv", "runs/a/"));
  CHECK(is_inside_trial("metrics.csv", "metrics.csv.d"));  // names that only begin alike
  CHECK_FALSE(is_inside_trial("runs/a", "runs/a/"));
  CHECK_FALSE(is_inside_trial("runs/a/debug-output", "runs/a"));
  CHECK_FALSE(is_inside_trial("s3://bucket", "s3://bucket/run"));
  CHECK_FALSE(is_inside_trial("", "runs/a"));
}

TEST_CASE("a path without slashes at its end, and one that lies in a folder") {
  CHECK(without_slashes("a/b//") == "a/b");
  CHECK(without_slashes("").empty());
  CHECK(without_slashes("//") == "/");
  CHECK(lies_in("a/b", "a"));
  CHECK(lies_in("a", "a"));
  CHECK_FALSE(lies_in("ab", "a"));
  CHECK_FALSE(lies_in("a", "a/b"));
  CHECK(lies_in("/a", "/"));
}
