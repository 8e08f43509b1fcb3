// SPDX-License-Identifier: Apache-2.0
#include "draw/bins.hpp"

#include "cli/exit_status.hpp"

#include <doctest/doctest.h>

using smd::tool::BinSpec;
using smd::tool::InvalidValue;

TEST_CASE("--bins") {
  CHECK(BinSpec::parse("3").count == 3);
  CHECK(BinSpec::parse("3:-1:2.5").low == -1);
  CHECK(BinSpec::parse("3:-1:2.5").high == 2.5);
  for (const char* const text :
       {"", "0", "-1", "x", "3:1", "3:1:", "3:2:1", "3:nan:1", "3:0:inf", "1000001", "3:0:1:2"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)BinSpec::parse(text), InvalidValue);
  }
}
