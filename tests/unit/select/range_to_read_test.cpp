// SPDX-License-Identifier: Apache-2.0
#include "select/selection.hpp"

#include <doctest/doctest.h>

#include <vector>

TEST_CASE("what to read at first follows from steps and modes") {
  using smd::Mode;
  using smd::tool::range_to_read;
  using smd::tool::StepSpec;
  const std::vector<Mode> global = {Mode::global};
  const std::vector<Mode> train = {Mode::train};
  CHECK(range_to_read(StepSpec::parse("last"), global).newest() == 1);
  CHECK(range_to_read(StepSpec::parse("-3:"), train).newest() == 3);
  CHECK(range_to_read(StepSpec::parse("5000:8000"), global).first() == smd::GlobalStep(5000));
  CHECK(range_to_read(StepSpec::parse("5000:8000"), global).end() == smd::GlobalStep(8000));
  // Mode step 5000 may be any global step.
  CHECK_FALSE(range_to_read(StepSpec::parse("5000:8000"), train).first().has_value());
  CHECK_FALSE(range_to_read(std::nullopt, global).newest().has_value());
}
