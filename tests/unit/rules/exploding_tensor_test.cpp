// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace smd::test {
namespace {

TEST_CASE("counts NaN and infinities of raw values") {
  RuleTrial trial;
  trial.step(0, {{"a", {1, 2}}, {"empty", {}}});
  trial.step(1, {{"a", {nan, inf, -inf, 0}}});
  trial.step(2, {{"a", {inf}}});
  const RuleResult all = trial.run("ExplodingTensor");
  CHECK(found(all) == Texts{"1 a worker_0 non_finite 3", "2 a worker_0 non_finite 1"});
  CHECK(all.findings.at(0).threshold == 0);
  CHECK(all.steps_evaluated == 3);
  const RuleResult only_nan = trial.run("ExplodingTensor", {{"only_nan", "1"}});
  CHECK(found(only_nan) == Texts{"1 a worker_0 non_finite 1"});
}

TEST_CASE("reductions decide where no value was saved") {
  RuleTrial trial;
  trial.step(0, {{saved("prod", "a"), {inf}}, {saved("abs_prod", "a"), {nan}}});  // overflow harmlessly
  trial.step(1, {{saved("mean", "a"), {nan}}, {saved("max", "a"), {inf}}});       // two
  trial.step(2, {{saved("mean", "a"), {nan}}});                                   // not with only_nan
  trial.step(3, {{saved("max", "a"), {nan}}, {"a", {1}}});                        // the value is what counts
  const RuleResult all = trial.run("ExplodingTensor");
  CHECK(found(all) == Texts{"1 a worker_0 non_finite_reduction 2", "2 a worker_0 non_finite_reduction 1"});
  CHECK(all.steps_evaluated == 3);
  CHECK(all.steps_skipped == 1);
  const RuleResult only_nan = trial.run("ExplodingTensor", {{"only_nan", "true"}});
  CHECK(only_nan.findings.empty());
  CHECK(only_nan.steps_evaluated == 2);
}

/// A saved reduction, for a step that also has shapes.
BuiltValue reduced(const std::string& reduction, float value) {
  return value_of<float>(saved(reduction, "a"), Dtype::float32, {value}, Shape{});
}

TEST_CASE("a NaN of no elements or of one is none of an element's") {
  RuleTrial trial;
  const auto reductions = {reduced("std", nan), reduced("mean", nan), reduced("abs_max", nan), reduced("l1", 0)};
  trial.step({.step = 0, .shapes = {{"a", {0, 8}}}, .values = reductions});
  trial.step({.step = 1, .mode_step = 1, .shapes = {{"a", {1, 8}}}, .values = reductions});
  trial.step({.step = 2, .mode_step = 2, .shapes = {{"a", {1, 1}}}, .values = {reduced("std", nan)}});
  trial.step({.step = 3, .mode_step = 3, .shapes = {{"a", {1}}}, .values = {reduced("mean", nan)}});
  trial.step(4, {{saved("mean", "a"), {nan}}, {saved("abs_mean", "a"), {nan}}, {saved("l1", "a"), {0}}});
  trial.step(5, {{saved("std", "a"), {nan}}, {saved("mean", "a"), {0.25F}}});
  trial.step(6, {{saved("abs_variance", "a"), {nan}}, {saved("min", "a"), {2}}, {saved("max", "a"), {2}}});
  trial.step(7, {{saved("std", "a"), {nan}}, {saved("min", "a"), {2}}});  // the greatest may be infinite
  trial.step(8, {{saved("std", "a"), {inf}}, {saved("mean", "a"), {0.25F}}});
  // Some writers leave NaN out of the least and the greatest element.
  trial.step(9, {{saved("abs_max", "a"), {2}},
                 {saved("min", "a"), {0}},
                 {saved("max", "a"), {2}},
                 {saved("abs_mean", "a"), {nan}}});
  const RuleResult result = trial.run("ExplodingTensor");
  CHECK(found(result) == Texts{"1 a worker_0 non_finite_reduction 1", "3 a worker_0 non_finite_reduction 1",
                               "7 a worker_0 non_finite_reduction 1", "8 a worker_0 non_finite_reduction 1",
                               "9 a worker_0 non_finite_reduction 1"});
  CHECK(result.steps_skipped == 2);
  CHECK(triggered_at(trial.run("ExplodingTensor", {{"only_nan", "1"}})) == Steps{1, 9});
}

TEST_CASE("a saved shape says that a tensor has no elements") {
  RuleTrial trial;
  trial.step({.step = 0, .shapes = {{"a", {0, 8}}}, .values = {reduced("max", nan), reduced("l1", 0)}});
  for (const char* const rule : {"ExplodingTensor", "AllZero"}) {
    const RuleResult result = trial.run(rule, {{"tensor_regex", "a"}});
    CHECK(result.status == RuleStatus::not_evaluated);
    CHECK(result.message.ends_with("1 of 1 tensor has no elements and was skipped: a"));
  }
}

TEST_CASE("integers and booleans are evaluated and never trigger") {
  RuleTrial trial;
  trial.step({.values = {value_of<std::int64_t>("i", Dtype::int64, {std::numeric_limits<std::int64_t>::max()}),
                         value_of<std::uint8_t>("b", Dtype::boolean, {1, 0})}});
  const RuleResult result = trial.run("ExplodingTensor");
  CHECK(result.findings.empty());
  CHECK(result.steps_evaluated == 1);
  CHECK(result.tensors_matched == 2);
}

TEST_CASE("a selection that matches nothing says what may have been meant") {
  RuleTrial trial(RuleTrial::Collections{{"losses", {"loss"}}});
  trial.step(0, {{"loss", {1}}});
  const RuleResult result = trial.run("ExplodingTensor", {{"collection_names", "weights"}, {"tensor_regex", "^los$"}});
  CHECK(result.status == RuleStatus::not_evaluated);
  CHECK(result.message ==
        "nothing was evaluated: no tensor matches pattern '^los$'; did you mean tensor_regex=loss?; the trial has no "
        "collection 'weights'");
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0] == "the trial has no collection 'weights'");
}

}  // namespace
}  // namespace smd::test
