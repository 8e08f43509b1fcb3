// SPDX-License-Identifier: Apache-2.0
#include <smd/hook_config.hpp>

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

namespace smd {
namespace {

using Steps = std::vector<std::int64_t>;

/// The steps below `end` that are saved.
Steps saved(const SaveConfigMode& config, std::int64_t end) {
  Steps steps;
  for (std::int64_t step = 0; step < end; ++step) {
    if (should_save_step(config, step)) {
      steps.push_back(step);
    }
  }
  return steps;
}

/// The documented rule, by making the set of all steps that are saved below `end`.
std::set<std::int64_t> stated(const SaveConfigMode& config, std::int64_t end) {
  std::set<std::int64_t> steps;
  for (std::int64_t step = 0; step < end && (!config.end_step || step < *config.end_step);
       step += config.save_interval) {
    if (step >= config.start_step) {
      steps.insert(step);
    }
  }
  for (const std::int64_t step : config.save_steps) {
    if (step < end) {
      steps.insert(step);
    }
  }
  return steps;
}

// The examples of the reference's documentation of SaveConfig.
TEST_CASE("the documentation's examples") {
  CHECK(saved({}, 1600) == Steps{0, 500, 1000, 1500});
  CHECK(saved({.save_interval = 1}, 5) == Steps{0, 1, 2, 3, 4});
  CHECK(saved({.save_interval = 100, .end_step = 200}, 1000) == Steps{0, 100});
  CHECK(saved({.save_interval = 100, .end_step = 201}, 1000) == Steps{0, 100, 200});
  CHECK(saved({.save_interval = 100, .start_step = 150}, 501) == Steps{200, 300, 400, 500});
  CHECK(saved({.save_steps = {3, 7}}, 1001) == Steps{0, 3, 7, 500, 1000});
}

TEST_CASE("an interval below 1 saves the named steps only") {
  CHECK(saved({.save_interval = 0, .save_steps = {2}}, 10) == Steps{2});
  CHECK(saved({.save_interval = -3}, 10).empty());
}

TEST_CASE("10,000 configurations against the rule stated as a set") {
  std::mt19937_64 random(20260101);
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  std::size_t disagreements = 0;
  std::size_t saved_steps = 0;
  for (int i = 0; i < 10'000; ++i) {
    SaveConfigMode config;
    config.save_interval = number(1, 40);
    config.start_step = number(0, 3) == 0 ? 0 : number(0, 120);
    if (number(0, 1) == 0) {
      config.end_step = number(0, 150);
    }
    for (std::int64_t left = number(0, 4); left > 0; --left) {
      config.save_steps.push_back(number(0, 160));
    }
    const std::set<std::int64_t> expected = stated(config, 150);
    for (std::int64_t step = 0; step < 150; ++step) {
      disagreements += should_save_step(config, step) != expected.contains(step) ? 1 : 0;
    }
    saved_steps += expected.size();
  }
  CHECK(disagreements == 0);
  CHECK(saved_steps > 10'000);  // the configurations are not all empty
}

TEST_CASE("modes that are not named fall back") {
  const SaveConfig config({{Mode::train, {.save_interval = 2}}, {Mode::eval, {.save_interval = 3}}});
  CHECK(config.should_save_step(Mode::train, 4));
  CHECK_FALSE(config.should_save_step(Mode::eval, 4));
  CHECK(config.should_save_step(Mode::eval, 9));
  CHECK(config.mode(Mode::predict) == SaveConfigMode{});
  CHECK(config.mode(Mode::global).save_interval == 500);
  const SaveConfig other({{Mode::predict, {.save_interval = 7}}}, {.save_interval = 10});
  CHECK(other.mode(Mode::train).save_interval == 10);
  CHECK(other.mode(Mode::predict).save_interval == 7);
  CHECK(other.modes().size() == 4);
}

TEST_CASE("one configuration for all modes") {
  const SaveConfig config(SaveConfigMode{.save_interval = 4});
  for (const auto& [mode, of_mode] : config.modes()) {
    CHECK(of_mode.save_interval == 4);
  }
}

}  // namespace
}  // namespace smd
