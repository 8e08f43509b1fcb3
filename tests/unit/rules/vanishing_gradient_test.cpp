// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::map<std::string, std::vector<std::string>> gradients = {{"gradients", {"^gradient"}}};

TEST_CASE("a mean on the threshold does not trigger, one below does") {
  RuleTrial trial(gradients);
  trial.step(0, {{"gradient/a", {0.25F, -0.25F}}});  // mean of |x| is 1/4
  trial.step(1, {{"gradient/a", {0.25F, -0.125F}}});
  const RuleResult result = trial.run("VanishingGradient", {{"threshold", "0.25"}});
  REQUIRE(found(result) == Texts{"1 gradient/a worker_0 abs_mean 0.1875"});
  CHECK(result.findings[0].message == "gradient/a: abs_mean 0.1875 < threshold 0.25");
  CHECK(result.steps_evaluated == 2);
}

TEST_CASE("NaN never triggers, empty tensors and steps without gradients are passed over") {
  RuleTrial trial(gradients);
  trial.step(0, {{"gradient/a", {nan, 0}}});
  trial.step(1, {{"gradient/a", {}}});
  trial.step(2, {{"weight", {0}}});
  const RuleResult result = trial.run("VanishingGradient");
  CHECK(result.findings.empty());
  CHECK(result.steps_evaluated == 1);
  CHECK(result.steps_skipped == 2);
  CHECK(result.status == RuleStatus::no_issues_found);
}

TEST_CASE("a saved abs_mean is believed, not the value beside it") {
  RuleTrial trial(gradients);
  trial.step(0, {{"gradient/a", {1}}, {saved("abs_mean", "gradient/a"), {0}}});
  trial.step(1, {{saved("abs_mean", "gradient/a"), {0.5F}}});
  trial.step(2, {{saved("max", "gradient/a"), {0}}});  // will not do
  const RuleResult result = trial.run("VanishingGradient");
  CHECK(triggered_at(result) == std::vector<std::int64_t>{0});
  CHECK(result.steps_evaluated == 2);
}

TEST_CASE("integers count; text does not") {
  RuleTrial trial(gradients);
  trial.step({.mode = Mode::global,
              .values = {value_of<std::int32_t>("gradient/i", Dtype::int32, {0, 0, -1, 1}),
                         {"gradient/text", Dtype::string, {1}, std::string("\1\0\0\0x", 5)}}});
  CHECK(found(trial.run("VanishingGradient", {{"threshold", "0.75"}})) == Texts{"0 gradient/i worker_0 abs_mean 0.5"});
}

TEST_CASE("each worker and mode by itself") {
  RuleTrial trial(gradients, 2);
  for (const char* const worker : {"worker_1", "worker_0"}) {
    trial.step({.worker = worker,
                .mode = Mode::eval,
                .tensors = {{"gradient/b", {0}}, {"gradient/a", {worker == std::string("worker_1") ? 0.0F : 1.0F}}}});
  }
  const RuleResult result = trial.run("VanishingGradient");
  // by tensor, then worker
  REQUIRE(found(result) == Texts{"0 gradient/a worker_1 abs_mean 0", "0 gradient/b worker_0 abs_mean 0",
                                 "0 gradient/b worker_1 abs_mean 0"});
  CHECK(result.findings[2].mode == Mode::eval);
}

TEST_CASE("parameters") {
  CHECK(refused("VanishingGradient", {{"threshold", "nan"}}) == "bad_value threshold");
  CHECK(refused("VanishingGradient", {{"threshold", " 1e-3 "}}).empty());
  CHECK(refused("VanishingGradient", {{"threshold", ""}}).empty());
  CHECK(refused("VanishingGradient", {{"Threshold", "1"}}) == "unknown_parameter Threshold");
  CHECK(refused("VanishingGradient", {{"start_step", "-1"}}) == "bad_value start_step");
}

}  // namespace
}  // namespace smd::test
