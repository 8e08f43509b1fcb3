// SPDX-License-Identifier: Apache-2.0
#include "text/substitution.hpp"

#include <doctest/doctest.h>

#include <string>

using smd::detail::Substitution;

TEST_CASE("every match of a pattern is replaced, with its groups") {
  std::string error;
  Substitution one;
  REQUIRE_FALSE(one.compile("^module\\.(.*)", "net.$1"));
  CHECK(one.apply("module.fc.weight", error) == "net.fc.weight");
  CHECK(one.apply("fc.weight", error) == "fc.weight");
  Substitution all;
  REQUIRE_FALSE(all.compile("a", "bb"));
  CHECK(all.apply(std::string(1000, 'a'), error) == std::string(2000, 'b'));
  CHECK(all.apply("", error)->empty());
}

TEST_CASE("what cannot be compiled or replaced is told") {
  std::string error;
  Substitution one;
  CHECK(one.compile("(", "x") == "missing closing parenthesis at byte 1");
  REQUIRE_FALSE(one.compile("a", "$9"));
  CHECK_FALSE(one.apply("a", error));
  CHECK_FALSE(error.empty());
  Substitution long_search;  // a match of many steps
  REQUIRE_FALSE(long_search.compile("(a+)+$", ""));
  CHECK_FALSE(long_search.apply(std::string(5000, 'a') + "b", error));
}
