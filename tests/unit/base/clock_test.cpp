// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include "support/fake_clock.hpp"

#include <doctest/doctest.h>

using namespace smd::detail;

TEST_CASE("the system's clock does not go backwards, and its wall time is in this century") {
  const auto first = system_clock().now();
  CHECK(system_clock().now() >= first);
  CHECK(system_clock().wall_seconds() > 1.5e9);
  CHECK(system_clock().wall_seconds() < 4.2e9);
}

TEST_CASE("a fake clock is advanced manually; setting its wall time does not affect durations") {
  smd::test::FakeClock clock;
  const auto start = clock.now();
  const double wall = clock.wall_seconds();
  clock.advance(std::chrono::milliseconds(1500));
  CHECK(clock.now() - start == std::chrono::milliseconds(1500));
  CHECK(clock.wall_seconds() == wall + 1.5);
  clock.set_wall(wall - 86400);
  CHECK(clock.wall_seconds() == wall - 86400);
  CHECK(clock.now() - start == std::chrono::milliseconds(1500));
}
