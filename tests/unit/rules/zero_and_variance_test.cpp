// SPDX-License-Identifier: Apache-2.0
// AllZero and TensorVariance.
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

TEST_CASE("AllZero triggers at the threshold") {
  RuleTrial trial;
  trial.step(0, {{"a", {0, -0.0F, 0, 1}}});   // 75 %
  trial.step(1, {{"a", {0, 0, 1, 1}}});       // 50 %
  trial.step(2, {{"a", {0, 0, 0, nan}}});     // 75 %: NaN is not zero
  trial.step(3, {{"a", {0, 0}}, {"b", {}}});  // all
  CHECK(triggered_at(trial.run("AllZero", {{"tensor_regex", "a"}, {"threshold", "75"}})) ==
        std::vector<std::int64_t>{0, 2, 3});
  CHECK(triggered_at(trial.run("AllZero", {{"tensor_regex", "a"}, {"threshold", "75.5"}})) ==
        std::vector<std::int64_t>{3});
  const RuleResult result = trial.run("AllZero", {{"tensor_regex", "a,b"}});
  CHECK(triggered_at(result) == std::vector<std::int64_t>{3});
  CHECK(result.findings.at(0).value == 100);
}

TEST_CASE("AllZero believes the reductions that cannot underflow, the first of them") {
  RuleTrial trial;
  trial.step(0, {{saved("abs_max", "a"), {0}}, {saved("l1", "a"), {1}}});
  trial.step(1, {{saved("min", "a"), {0}}, {saved("max", "a"), {0}}});
  trial.step(2, {{saved("min", "a"), {0}}, {saved("max", "a"), {1}}, {saved("l1", "a"), {0}}});
  trial.step(3, {{saved("abs_sum", "a"), {0}}, {saved("l1", "a"), {1}}});
  trial.step(4, {{saved("abs_sum", "a"), {0}}});
  trial.step(5, {{saved("min", "a"), {0}}});       // half of a pair
  trial.step(6, {{saved("variance", "a"), {0}}});  // tells nothing
  const RuleResult result = trial.run("AllZero", {{"tensor_regex", "a"}});
  CHECK(triggered_at(result) == std::vector<std::int64_t>{0, 1, 4});
  CHECK(result.steps_evaluated == 5);
  CHECK(result.steps_skipped == 2);
  CHECK(trial.run("AllZero", {{"tensor_regex", "a"}, {"threshold", "99"}}).status == RuleStatus::not_evaluated);
}

TEST_CASE("AllZero of integers, and its parameters") {
  RuleTrial trial;
  trial.step({.values = {value_of<std::int16_t>("a", Dtype::int16, {0, 0, 0}),
                         value_of<std::uint8_t>("a_bool", Dtype::boolean, {0, 1})}});
  CHECK(trial.run("AllZero", {{"tensor_regex", "a"}, {"threshold", "50"}}).findings.size() == 2);
  CHECK(refused("AllZero", {}) == "missing_parameter collection_names");
  CHECK(refused("AllZero", {{"tensor_regex", " , "}}) == "missing_parameter collection_names");
  CHECK(refused("AllZero", {{"collection_names", "None"}}) == "missing_parameter collection_names");
}

TEST_CASE("TensorVariance: bounds are not passed by equality") {
  RuleTrial trial;
  trial.step(0, {{"v", {1, 3}}});    // mean 2, variance 1
  trial.step(1, {{"v", {0, 4}}});    // 4
  trial.step(2, {{"v", {5}}});       // 0
  trial.step(3, {{"v", {nan, 1}}});  // NaN triggers nothing
  const RuleResult result =
      trial.run("TensorVariance", {{"tensor_regex", "v"}, {"max_threshold", "1"}, {"min_threshold", "1"}});
  CHECK(found(result) == Texts{"1 v worker_0 max 4", "2 v worker_0 min 0"});
  CHECK(result.steps_evaluated == 4);
  CHECK(result.warnings == Texts{"v: 1 of 4 variances are NaN: not compared"});
  CHECK(result.doubtful);
}

TEST_CASE("TensorVariance: variances that are NaN, as hooks of PyTorch save them of one element") {
  RuleTrial trial;
  trial.step(0, {{saved("variance", "v"), {nan}}}).step(1, {{saved("std", "v"), {nan}}});
  const RuleResult result = trial.run("TensorVariance", {{"tensor_regex", "v"}, {"min_threshold", "1"}});
  CHECK(result.status == RuleStatus::not_evaluated);
  CHECK(result.message == "nothing was evaluated: all that can be compared is NaN");
  CHECK(result.warnings == Texts{"v: 2 of 2 variances are NaN: not compared"});
}

TEST_CASE("TensorVariance: saved variance, value, saved std, in this order") {
  RuleTrial trial;
  trial.step(0, {{"v", {1, 3}}, {saved("variance", "v"), {9}}, {saved("std", "v"), {7}}});
  trial.step(1, {{"v", {1, 3}}, {saved("std", "v"), {7}}});
  trial.step(2, {{saved("std", "v"), {4}}});
  trial.step(3, {{saved("mean", "v"), {4}}});
  const RuleResult result = trial.run("TensorVariance", {{"tensor_regex", "v"}, {"max_threshold", "0"}});
  CHECK(found(result) == Texts{"0 v worker_0 max 9", "1 v worker_0 max 1", "2 v worker_0 max 16"});
  CHECK(result.steps_skipped == 1);
  CHECK(refused("TensorVariance", {{"tensor_regex", "v"}}) == "missing_parameter max_threshold");
}

}  // namespace
}  // namespace smd::test
