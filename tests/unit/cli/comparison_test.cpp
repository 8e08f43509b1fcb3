// SPDX-License-Identifier: Apache-2.0
#include "cli/comparison.hpp"
#include "cli/exit_status.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using smd::tool::Comparison;
using smd::tool::parse_comparison;
using smd::tool::Relation;

TEST_CASE("the last sign with blanks around it splits a comparison; one without blanks does if it is the only one") {
  struct Case {
    std::string text;
    std::string name;
    Relation relation;
    std::string value;
  };
  for (const Case& one : {Case{"val/loss < 0.5", "val/loss", Relation::less, "0.5"},
                          {"val/loss<=0.5", "val/loss", Relation::at_most, "0.5"},
                          {"a = b != c", "a = b", Relation::unequal, "c"},
                          {"a=b > c=d", "a=b", Relation::greater, "c=d"},
                          {"loss:min >=1", "loss:min", Relation::at_least, "1"},
                          {"name ~ ^a.*=", "name", Relation::matches, "^a.*="},
                          {"reason = ", "reason", Relation::equal, ""},
                          {"x == 1", "x", Relation::equal, "1"}}) {
    CAPTURE(one.text);
    const Comparison found = parse_comparison(one.text);
    CHECK(found.name == one.name);
    CHECK(found.relation == one.relation);
    CHECK(found.value == one.value);
    CHECK(found.text == one.text);
  }
  for (const std::string text : {"loss", "a=b=c", "< 1", "a <> 1", "a => 1", ""}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)parse_comparison(text), smd::tool::InvalidValue);
  }
}
