// SPDX-License-Identifier: Apache-2.0
#include "unit/cli/sample_line.hpp"

#include <doctest/doctest.h>

using smd::tool::test::parse;
using smd::tool::test::usage_error;

TEST_CASE("options become values") {
  const auto selection = smd::tool::SelectionOptions::from(
      parse({"-m", "TRAIN,eval,train", "-w", "all", "--every=3", "-s", "first,-2:", "--incomplete", "t"}));
  CHECK(selection.modes == std::vector<smd::Mode>{smd::Mode::train, smd::Mode::eval});
  CHECK(selection.all_workers);
  CHECK_FALSE(selection.worker.has_value());
  CHECK(selection.every == 3);
  CHECK(selection.incomplete);
  REQUIRE(selection.steps.has_value());
  CHECK(selection.steps->terms().size() == 2);
  CHECK(smd::tool::SelectionOptions::from(parse({"t"})).modes == std::vector<smd::Mode>{smd::Mode::global});
}

TEST_CASE("a glob where a pattern is due is refused with the pattern") {
  CHECK(usage_error({"-e", "*weight", "t"}) == "--regex: '*weight' is a regular expression, not a glob: try 'weight$'");
  CHECK(usage_error({"-x", "*.bias", "t"}) ==
        "--exclude: '*.bias' is a regular expression, not a glob: try '\\.bias$'");
  CHECK(usage_error({"-e", "fc*", "t"}).empty());  // a pattern too
}
