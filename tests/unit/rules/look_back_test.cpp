// SPDX-License-Identifier: Apache-2.0
// UnchangedTensor and WeightUpdateRatio, which hold a value against earlier ones.
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::map<std::string, std::vector<std::string>> weights = {{"weights", {"weight"}}};

TEST_CASE("UnchangedTensor: three agreeing values trigger at the third") {
  RuleTrial trial;
  trial.step(0, {{"a", {1, 2}}}).step(1, {{"a", {1, 2}}}).step(2, {{"a", {1, 2}}}).step(3, {{"a", {1, 2.5F}}});
  const RuleResult result = trial.run("UnchangedTensor", {{"tensor_regex", "a"}});
  CHECK(triggered_at(result) == std::vector<std::int64_t>{2});
  CHECK(result.steps_evaluated == 2);  // one step before, the window is not full
  CHECK(result.steps_skipped == 2);
  CHECK(triggered_at(trial.run("UnchangedTensor", {{"tensor_regex", "a"}, {"num_steps", "2"}})) ==
        std::vector<std::int64_t>{1, 2});
  // Steps before the start may be looked back to.
  CHECK(triggered_at(trial.run("UnchangedTensor", {{"tensor_regex", "a"}},
                               {.start = GlobalStep(2), .keep_going = true})) == std::vector<std::int64_t>{2});
}

TEST_CASE("UnchangedTensor: earlier values are requested only once the window is full") {
  RuleTrial trial;
  trial.step(0, {{"a", {1}}}).step(1, {{"a", {1}}}).step(2, {{"a", {1}}}).step(3, {{"a", {1}}});
  const Trial opened = trial.open();
  Evaluator evaluator(opened);
  evaluator.add(make_rule("UnchangedTensor", {{"tensor_regex", "a"}}));
  Steps planned;
  evaluator.plan([&](const PlannedRead& read) { planned.push_back(read.read_step.value); });
  CHECK(planned == Steps{0, 1, 0, 1, 2, 1, 2, 3});
}

TEST_CASE("UnchangedTensor: the tolerance itself is close, all are compared with the newest") {
  RuleTrial trial;
  trial.step(0, {{"a", {0}}}).step(1, {{"a", {0.25F}}}).step(2, {{"a", {0.5F}}});
  const ParameterTexts exact = {{"tensor_regex", "a"}, {"rtol", "0"}, {"atol", "0.25"}, {"num_steps", "2"}};
  const RuleResult result = trial.run("UnchangedTensor", exact);
  CHECK(triggered_at(result) == std::vector<std::int64_t>{1, 2});
  CHECK(result.findings.at(0).value == 0.25);
  CHECK(result.findings.at(0).threshold == 0.25);
  ParameterTexts three = exact;
  three["num_steps"] = "3";
  CHECK(trial.run("UnchangedTensor", three).findings.empty());  // |0.5 - 0| > 0.25: a slow drift
}

TEST_CASE("UnchangedTensor: the message says which tolerance it was") {
  RuleTrial trial;
  trial.step(0, {{"a", {1024}}}).step(1, {{"a", {1024.0078125F}}});  // apart by 2^-7 = 0.0078125 <= 1e-5 * 1024
  const RuleResult result = trial.run("UnchangedTensor", {{"tensor_regex", "a"}, {"num_steps", "2"}});
  REQUIRE(found(result) == Texts{"1 a worker_0 max_abs_change 0.0078125"});
  CHECK(result.findings[0].threshold == 1e-8);
  CHECK(result.findings[0].message == "a: max_abs_change 0.0078125 within rtol 1e-05 x |b| + threshold 1e-08");
}

TEST_CASE("UnchangedTensor: NaN, infinities, shapes, a value missing in the window") {
  RuleTrial trial;
  trial.step(0, {{"nan", {nan}}, {"inf", {inf, -inf}}, {"mixed", {inf}}, {"shape", {1, 1}}, {"gap", {1}}});
  trial.step(1, {{"nan", {nan}}, {"inf", {inf, -inf}}, {"mixed", {-inf}}, {"shape", {1}}, {saved("min", "gap"), {1}}});
  trial.step(2, {{"gap", {1}}, {"empty", {}}});
  trial.step(3, {{"empty", {}}});
  const ParameterTexts two = {{"tensor_regex", ".*"}, {"num_steps", "2"}};
  const RuleResult result = trial.run("UnchangedTensor", two);
  CHECK(found(result) == Texts{"1 inf worker_0 max_abs_change 0"});
  CHECK(result.steps_evaluated == 1);  // at 2 the window of `gap` lacks a value, at 3 `empty` has none
  ParameterTexts equal_nan = two;
  equal_nan["equal_nan"] = "True";
  CHECK(trial.run("UnchangedTensor", equal_nan).findings.size() == 2);
}

TEST_CASE("UnchangedTensor: a step without the tensor is no step of its window; modes and workers apart; integers") {
  RuleTrial trial({}, 1);
  trial.step(0, Mode::train, 0, {{"a", {1}}});
  trial.step(1, Mode::eval, 0, {{"a", {1}}});
  trial.step(2, Mode::train, 1, {{"b", {1}}});
  trial.step(3, Mode::train, 2, {{"a", {1}}});
  CHECK(triggered_at(trial.run("UnchangedTensor", {{"tensor_regex", "a"}, {"num_steps", "2"}})) ==
        std::vector<std::int64_t>{3});

  RuleTrial integers;
  for (std::int64_t step = 0; step < 2; ++step) {
    integers.step({.step = step, .mode_step = step, .values = {value_of<std::int64_t>("a", Dtype::int64, {7, -7})}});
  }
  CHECK(triggered_at(integers.run("UnchangedTensor", {{"tensor_regex", "a"}, {"num_steps", "2"}})) ==
        std::vector<std::int64_t>{1});
}

TEST_CASE("WeightUpdateRatio: thresholds are not passed by equality") {
  RuleTrial trial(weights);
  trial.step(0, {{"weight", {3, 4}}});   // norm 5
  trial.step(1, {{"weight", {9, 12}}});  // (6, 8): 10 / 5 = 2
  const ParameterTexts exact = {{"epsilon", "0"}, {"large_threshold", "2"}, {"small_threshold", "2"}};
  CHECK(trial.run("WeightUpdateRatio", exact).findings.empty());
  CHECK(trial.run("WeightUpdateRatio", exact).steps_evaluated == 1);
  const RuleResult large = trial.run("WeightUpdateRatio", {{"epsilon", "0"}, {"large_threshold", "1.9"}});
  REQUIRE(triggered_at(large) == std::vector<std::int64_t>{1});
  CHECK(large.findings[0].value == doctest::Approx(2).epsilon(1e-12));
  CHECK(large.findings[0].check == "large");
  // With epsilon 5 the ratio is 10 / 10.
  const RuleResult small = trial.run("WeightUpdateRatio", {{"epsilon", "5"}, {"small_threshold", "1.1"}});
  REQUIRE(small.findings.size() == 1);
  CHECK(small.findings[0].check == "small");
  CHECK(small.findings[0].value == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("WeightUpdateRatio says that a weight was 0 before") {
  RuleTrial trial(weights);
  trial.step(4, {{"weight", {0, 0}}}).step(5, {{"weight", {3, 4}}}).step(6, {{"weight", {300, 400}}});
  const RuleResult result = trial.run("WeightUpdateRatio", {{"epsilon", "0.5"}, {"large_threshold", "9"}});
  // 5 / 0.5, and 495 / 5.5
  REQUIRE(values(result) == std::vector<double>{10, 90});
  CHECK(result.findings[0].message ==
        "weight: large 10 > threshold 9; it was all 0 at step 4: was it initialised with zeros?");
  CHECK(result.findings[1].message == "weight: large 90 > threshold 9");
}

TEST_CASE("WeightUpdateRatio: which step is the reference") {
  RuleTrial trial(weights);
  // w(k) = 1, 2, 4, 16 at mode steps 0, 2, 4, 10, with an evaluation step between that does not count.
  trial.step(0, Mode::train, 0, {{"weight", {1}}});
  trial.step(1, Mode::eval, 0, {{"weight", {1}}});
  trial.step(2, Mode::train, 2, {{"weight", {2}}});
  trial.step(4, Mode::train, 4, {{"weight", {4}}});
  trial.step(10, Mode::train, 10, {{"weight", {16}}});
  const ParameterTexts any = {{"epsilon", "0"}, {"large_threshold", "0"}};
  const RuleResult last = trial.run("WeightUpdateRatio", any);
  // 2 after 1, 4 after 2, 16 after 4
  CHECK(found(last) == Texts{"2 weight worker_0 large 1", "4 weight worker_0 large 1", "10 weight worker_0 large 3"});
  ParameterTexts window = any;
  window["num_steps"] = "4";
  const RuleResult far = trial.run("WeightUpdateRatio", window);
  // 2 after 1, 4 after 1; within 4 of 10 there is nothing
  CHECK(found(far) == Texts{"2 weight worker_0 large 1", "4 weight worker_0 large 3"});
  window["num_steps"] = "9223372036854775807";
  CHECK(triggered_at(trial.run("WeightUpdateRatio", window)) == std::vector<std::int64_t>{2, 4, 10});
}

TEST_CASE("WeightUpdateRatio: a job that was restarted counts its mode steps anew") {
  RuleTrial trial(weights);
  trial.step(0, Mode::train, 0, {{"weight", {1}}}).step(1, Mode::train, 0, {{"weight", {100}}});
  const RuleResult result =
      trial.run("WeightUpdateRatio", {{"num_steps", "7"}, {"epsilon", "0"}, {"large_threshold", "0"}});
  CHECK(found(result) == Texts{"1 weight worker_0 large 99"});  // |100 - 1| / 1

  RuleTrial far(weights);
  far.step(0, Mode::train, 3, {{"weight", {1}}}).step(1, Mode::train, 4, {{"weight", {2}}});
  far.step(2, Mode::train, 2, {{"weight", {10}}}).step(3, Mode::train, 3, {{"weight", {30}}});
  const RuleResult within =
      far.run("WeightUpdateRatio", {{"num_steps", "2"}, {"epsilon", "0"}, {"large_threshold", "0"}});
  // |2 - 1| / 1, |30 - 10| / 10
  CHECK(found(within) == Texts{"1 weight worker_0 large 1", "3 weight worker_0 large 2"});

  // The weight was not saved where the mode steps began again.
  RuleTrial sparse(weights);
  sparse.step(0, Mode::train, 0, {{"weight", {1}}}).step(1, Mode::train, 1, {{"aux", {1}}});
  sparse.step(2, Mode::train, 0, {{"aux", {1}}}).step(3, Mode::train, 10, {{"weight", {50}}});
  const ParameterTexts ten = {{"num_steps", "10"}, {"epsilon", "0"}, {"large_threshold", "0"}};
  CHECK(sparse.run("WeightUpdateRatio", ten).status == RuleStatus::not_evaluated);
  sparse.step(4, Mode::train, 11, {{"weight", {150}}});
  CHECK(found(sparse.run("WeightUpdateRatio", ten)) == Texts{"4 weight worker_0 large 2"});  // |150 - 50| / 50
}

TEST_CASE("following: WeightUpdateRatio compares with the step before, over many looks") {
  RuleTrial trial(weights);
  trial.running();
  trial.step(0, Mode::train, 0, {{"weight", {1}}});
  Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true, .follow = true});
  evaluator.add(make_rule("WeightUpdateRatio", {{"num_steps", "1"}, {"epsilon", "0"}, {"large_threshold", "0.9"}}));
  for (std::int64_t step = 1; step <= 600; ++step) {
    const auto value = static_cast<float>(step + 1);
    trial.step(step, Mode::train, step, {{"weight", {step == 500 ? 2 * value : value}}});
    opened.refresh();
    evaluator.offer();
  }
  // |2 - 1| / 1 and |1002 - 500| / 500; all others are at most 1 / 2.
  CHECK(triggered_at(evaluator.results().front()) == std::vector<std::int64_t>{1, 500});
}

TEST_CASE("WeightUpdateRatio: other shapes, reductions, NaN and zeros") {
  RuleTrial trial(weights);
  trial.step(0, {{"weight/shape", {1}}, {"weight/nan", {1}}, {"weight/zero", {0}}, {saved("l2", "weight/red"), {1}}});
  trial.step(1,
             {{"weight/shape", {1, 1}}, {"weight/nan", {nan}}, {"weight/zero", {0}}, {saved("l2", "weight/red"), {1}}});
  const RuleResult result = trial.run("WeightUpdateRatio");
  CHECK(found(result) == Texts{"1 weight/zero worker_0 small 0"});  // 0 / (0 + epsilon) is below 1e-8; NaN is neither
  CHECK(result.steps_evaluated == 1);
}

TEST_CASE("WeightUpdateRatio: a warning if ratios of finite weights are NaN") {
  RuleTrial large(weights);  // norms beyond double's range
  for (const std::int64_t step : {0, 1}) {
    large.step({.step = step,
                .mode_step = step,
                .values = {value_of<double>("weight", Dtype::float64, {step == 0 ? 1e200 : -1e200})}});
  }
  const RuleResult nothing = large.run("WeightUpdateRatio");
  CHECK(nothing.status == RuleStatus::not_evaluated);
  CHECK(nothing.message == "nothing was evaluated: all that can be compared is NaN");
  CHECK(nothing.warnings == Texts{"weight: 1 of 1 ratio is NaN: not compared, though all values are finite"});

  RuleTrial zeros(weights);  // 0 / 0, and 0 / 1
  zeros.step(0, {{"weight/a", {0}}, {"weight/b", {1}}}).step(1, {{"weight/a", {0}}, {"weight/b", {1}}});
  const RuleResult some = zeros.run("WeightUpdateRatio", {{"epsilon", "0"}, {"small_threshold", "0"}});
  CHECK(some.status == RuleStatus::no_issues_found);
  CHECK(some.warnings == Texts{"weight/a: 1 of 1 ratio is NaN: not compared, though all values are finite"});

  RuleTrial diverged(weights);  // which ExplodingTensor reports
  diverged.step(0, {{"weight", {1}}}).step(1, {{"weight", {nan}}}).step(2, {{"weight", {inf}}});
  CHECK(diverged.run("WeightUpdateRatio").warnings.empty());
}

}  // namespace
}  // namespace smd::test
