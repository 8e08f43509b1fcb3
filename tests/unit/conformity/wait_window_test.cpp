// SPDX-License-Identifier: Apache-2.0
#include "recorded.hpp"

#include <doctest/doctest.h>

// The window in which incomplete steps are awaited, in `mw3_wait_window`: steps 0 to 19, none of them complete.
namespace smd::test {
namespace {

std::int64_t last_complete(std::size_t window) {
  TrialOptions options;
  options.incomplete_step_wait_window = window;
  const auto last = Trial::open(recorded("mw3_wait_window").path, options).last_complete_step();
  return last ? last->value : -1;
}

}  // namespace

// docs/format.md: if more than `window` steps after the last complete one are incomplete, the oldest window/2 of them
// count as complete. The reference compares with step numbers and does this once per query.
TEST_CASE("the window counts steps, and applies at once") {
  CHECK(last_complete(1000) == -1);
  CHECK(last_complete(20) == -1);  // 20 is not more than 20
  CHECK(last_complete(19) == 8);   // 20 > 19: 9 steps, 0 to 8; 11 are left
  CHECK(last_complete(10) == 9);   // 20 > 10: 5; 15 > 10: 5; 10 are left
  CHECK(last_complete(4) == 15);   // by twos until 4 are left
  CHECK(last_complete(1) == 18);   // half of 1 is 0, so one at a time, until 1 is left
  CHECK(last_complete(0) == 19);
}

TEST_CASE("the window comes from the environment, and an option takes precedence") {
  const Recorded& trial = recorded("mw3_wait_window");
  REQUIRE(trial.answers.at("env").at("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW") == "10");
  CHECK(trial.open().last_complete_step() == GlobalStep(9));
  CHECK(!Trial::open(trial.path).last_complete_step());
}

}  // namespace smd::test
