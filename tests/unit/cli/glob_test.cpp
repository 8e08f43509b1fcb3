// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"

#include <doctest/doctest.h>

using smd::tool::regex_of_glob;

TEST_CASE("globs and the patterns that mean the same") {
  CHECK(regex_of_glob("conv*") == "^conv");
  CHECK(regex_of_glob("*relu*") == "relu");
  CHECK(regex_of_glob("layer?/bias") == "^layer./bias$");
  CHECK(regex_of_glob("fc[12].weight") == "^fc[12]\\.weight$");
  CHECK(regex_of_glob("*").value_or("none").empty());
  for (const char* text : {"loss", "conv.*", "a|b", "^fc*", "x+", ""}) {
    CAPTURE(text);
    CHECK_FALSE(regex_of_glob(text).has_value());
  }
}
