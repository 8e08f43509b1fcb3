// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

ParameterTexts with(ParameterTexts base, const ParameterTexts& more) {
  for (const auto& [name, text] : more) {
    base[name] = text;
  }
  return base;
}

const ParameterTexts small = {
    {"reduction", "abs_mean"}, {"operator", "<"}, {"threshold", "0.5"}, {"tensor_regex", "^g"}};

TEST_CASE("triggers when the condition has held for so many steps of the tensor") {
  RuleTrial trial;
  trial.step(0, {{"g", {0.25F}}});
  trial.step(1, {{"g", {-0.25F}}});
  trial.step(2, {{"other", {1}}});  // not evaluated: neither counts nor resets
  trial.step(3, {{"g", {0}}});
  trial.step(4, {{"g", {0.5F}}});  // not below
  trial.step(5, {{"g", {0.25F}}});
  CHECK(triggered_at(trial.run("Threshold", small)) == std::vector<std::int64_t>{0, 1, 3, 5});
  const RuleResult three = trial.run("Threshold", with(small, {{"for_steps", "3"}}));
  REQUIRE(triggered_at(three) == std::vector<std::int64_t>{3});
  CHECK(three.findings[0].message == "g: abs_mean 0 < threshold 0.5 for 3 steps");
  CHECK(trial.run("Threshold", with(small, {{"for_steps", "4"}})).findings.empty());
}

TEST_CASE("operators, at equality and with NaN") {
  RuleTrial trial;
  trial.step(0, {{"g", {1}}}).step(1, {{"g", {2}}}).step(2, {{"g", {3}}}).step(3, {{"g", {nan}}});
  const auto steps = [&](const char* relation) {
    return triggered_at(trial.run(
        "Threshold", {{"reduction", "max"}, {"operator", relation}, {"threshold", "2"}, {"tensor_regex", "g"}}));
  };
  CHECK(steps("<") == std::vector<std::int64_t>{0});
  CHECK(steps("<=") == std::vector<std::int64_t>{0, 1});
  CHECK(steps(">") == std::vector<std::int64_t>{2});
  CHECK(steps(">=") == std::vector<std::int64_t>{1, 2});
  CHECK(steps("==") == std::vector<std::int64_t>{1});
  CHECK(steps("!=") == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("modes count by themselves, or only one counts; saved reductions; absolute values; integers") {
  RuleTrial trial(RuleTrial::Collections{{"gradients", {"^g"}}});
  trial.step(0, Mode::train, 0, {{"g", {0}}});
  trial.step(1, Mode::eval, 0, {{"g", {0}}});
  trial.step(2, Mode::train, 1, {{saved("abs_mean", "g"), {0}}});
  trial.step(3, Mode::eval, 1, {{saved("mean", "g"), {0}}});  // another reduction: skipped
  ParameterTexts two = with(small, {{"for_steps", "2"}, {"tensor_regex", ""}, {"collection_names", "gradients"}});
  CHECK(triggered_at(trial.run("Threshold", two)) == std::vector<std::int64_t>{2});
  CHECK(trial.run("Threshold", with(two, {{"mode", "eval"}})).findings.empty());
  two = with(two, {{"reduction", "mean"}, {"abs", "True"}});
  CHECK(triggered_at(trial.run("Threshold", two)) == std::vector<std::int64_t>{2});
  trial.step({.step = 4, .mode_step = 2, .values = {value_of<std::int32_t>("g", Dtype::int32, {-3, 1})}});
  CHECK(
      trial.run("Threshold", {{"reduction", "abs_max"}, {"operator", "=="}, {"threshold", "3"}, {"tensor_regex", "g"}})
          .findings.size() == 1);
}

TEST_CASE("what is refused") {
  CHECK(refused("Threshold", {}) == "missing_parameter reduction");
  CHECK(refused("Threshold", with(small, {{"reduction", "avg"}})) == "bad_value reduction");
  CHECK(refused("Threshold", with(small, {{"reduction", "nan"}, {"abs", "1"}})) == "bad_value abs");
  CHECK(refused("Threshold", with(small, {{"operator", "=<"}})) == "bad_value operator");
  CHECK(refused("Threshold", with(small, {{"for_steps", "0"}})) == "bad_value for_steps");
  CHECK(refused("Threshold", with(small, {{"for_steps", "1.0"}})) == "bad_value for_steps");
  CHECK(refused("Threshold", with(small, {{"mode", "TEST"}})) == "bad_value mode");
  CHECK(refused("Threshold", with(small, {{"tensor_regex", ""}})) == "missing_parameter collection_names");
}

}  // namespace
}  // namespace smd::test
