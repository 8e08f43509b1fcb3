// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace smd::test {
namespace {

const std::string poor_weight_initialization = "PoorWeightInitialization";
const std::map<std::string, std::vector<std::string>> collections = {{"losses", {"loss"}},
                                                                     {"gradients", {"^gradient"}}};

TEST_CASE("variances: exactly the threshold, above it, and of 0") {
  RuleTrial trial(collections);
  // variance of {-x, x} is x squared: 4 / 1, 16 / 1, infinite, both 0
  trial.step(0, {{"a_relu_input", {-2, 2}}, {"b_relu_input", {-1, 1}}});
  trial.step(1, {{"a_relu_input", {-1, 1}}, {"b_relu_input", {-4, 4}}});
  trial.step(2, {{"a_relu_input", {3, 3}}, {"b_relu_input", {-1, 1}}});
  trial.step(3, {{"a_relu_input", {3, 3}}, {"b_relu_input", {1, 1}}});
  trial.step(4, {{"a_relu_input", {-9, 9}}});  // nothing to compare with
  const RuleResult result = trial.run(poor_weight_initialization, {{"threshold", "4"}});
  CHECK(found(result) ==
        Texts{"1 b_relu_input worker_0 variance_ratio 16", "2 b_relu_input worker_0 variance_ratio inf"});
  CHECK(result.steps_evaluated == 3);
}

TEST_CASE("variances: saved ones and squares of saved std, NaN and empty left out, integers") {
  RuleTrial trial(collections);
  trial.step(0, {{saved("variance", "a_relu_input"), {32}},
                 {"a_relu_input", {0, 0}},
                 {saved("std", "b_relu_input"), {2}},
                 {"c_relu_input", {nan, 1}},
                 {"d_relu_input", {}}});
  trial.step({.step = 1,
              .mode_step = 1,
              .values = {value_of<std::int32_t>("a_relu_input", Dtype::int32, {-5, 5}),
                         value_of<std::int32_t>("b_relu_input", Dtype::int32, {-1, 1})}});
  const RuleResult result = trial.run(poor_weight_initialization, {{"threshold", "7"}});
  // 32 / 2 squared; 25 / 1
  CHECK(found(result) ==
        Texts{"0 a_relu_input worker_0 variance_ratio 8", "1 a_relu_input worker_0 variance_ratio 25"});
}

TEST_CASE("gradients: the narrowest, by percentiles of two elements or more") {
  RuleTrial trial(collections);
  // of {0, x} the percentiles are 0.95 x and 0.05 x: spread 0.9 x
  trial.step(0, {{"gradient/a", {0, 10}}, {"gradient/b", {0, -1}}, {"gradient/one", {5}}});
  trial.step(1, {{"gradient/a", {0, 10}}, {"gradient/b", {nan, 0}}, {"gradient/one", {5}}});
  trial.step(2, {{"gradient/a", {}}, {"gradient/one", {5}}});
  trial.step(3, {{saved("min", "gradient/a"), {0}}, {saved("max", "gradient/a"), {0}}});
  const RuleResult result = trial.run(poor_weight_initialization, {{"distribution_range", "1"}});
  REQUIRE(triggered_at(result) == Steps{0});
  CHECK(result.findings[0].check == "gradient_range");
  CHECK(result.findings[0].tensor == "gradient/b");
  CHECK(result.findings[0].value == doctest::Approx(0.9));
  CHECK(result.steps_evaluated == 2);

  RuleTrial exact(collections);
  std::vector<float> to_hundred;  // percentiles of 0, 1, …, 100 are the numbers themselves
  for (int i = 0; i <= 100; ++i) {
    to_hundred.push_back(static_cast<float>(i));
  }
  exact.step(0, {{"gradient/a", to_hundred}});
  CHECK(exact.run(poor_weight_initialization, {{"distribution_range", "90"}}).findings.empty());
  CHECK(triggered_at(exact.run(poor_weight_initialization, {{"distribution_range", "90.1"}})) == Steps{0});
}

TEST_CASE("losses: patience, a better loss clears, NaN counts") {
  RuleTrial trial(collections);
  const std::vector<float> values = {4, 4, nan, 3, 3, 5, 3, 1};
  for (std::size_t i = 0; i < values.size(); ++i) {
    trial.step(static_cast<std::int64_t>(i), {{"loss", {values[i]}}});
  }
  const RuleResult result = trial.run(poor_weight_initialization, {{"patience", "3"}});
  REQUIRE(found(result) == Texts{"6 loss worker_0 loss_not_decreasing 3"});
  CHECK(result.findings[0].message == "loss: loss_not_decreasing 3 >= threshold 3");
  CHECK(triggered_at(trial.run(poor_weight_initialization, {{"patience", "2"}})) == Steps{2, 5, 6});
  CHECK(trial.run(poor_weight_initialization, {{"patience", "4"}}).findings.empty());
  CHECK(trial.run(poor_weight_initialization, {{"patience", "4"}}).steps_evaluated == 8);
}

TEST_CASE("losses: none is better than a first one that is NaN") {
  RuleTrial trial(collections);
  trial.step(0, {{"loss", {nan}}}).step(1, {{"loss", {2}}}).step(2, {{"loss", {1}}});
  CHECK(triggered_at(trial.run(poor_weight_initialization, {{"patience", "2"}})) == Steps{2});
}

TEST_CASE("done after so many analysed steps; others do not count") {
  RuleTrial trial(collections);
  trial.step(0, Mode::train, 0, {{"loss", {1}}});
  trial.step(1, Mode::eval, 0, {{"loss", {0}}});
  trial.step(2, Mode::train, 1, {{"other", {1}}});
  trial.step(3, Mode::train, 2, {{"loss", {1}}});
  trial.step(4, Mode::predict, 0, {{"loss", {0}}});
  trial.step(5, Mode::train, 3, {{"loss", {1}}});
  const RuleResult all = trial.run(poor_weight_initialization, {{"patience", "2"}, {"steps", "2.5"}});
  CHECK(triggered_at(all) == Steps{5});
  CHECK(all.steps_evaluated == 3);
  const RuleResult two = trial.run(poor_weight_initialization, {{"patience", "2"}, {"steps", "2"}});
  CHECK(two.findings.empty());
  CHECK(two.steps_evaluated == 2);
  CHECK(two.last_step == GlobalStep(3));
}

TEST_CASE("each worker by itself, all checks in their order") {
  RuleTrial trial(collections, 2);
  for (const char* const worker : {"worker_0", "worker_1"}) {
    const float large = worker == std::string("worker_1") ? 9.0F : 1.0F;
    trial.step({.worker = worker,
                .tensors = {{"a_relu_input", {-1, 1}}, {"b_relu_input", {-large, large}}, {"gradient/a", {0, 0}}}});
  }
  const RuleResult result = trial.run(poor_weight_initialization);
  CHECK(found(result) == Texts{"0 b_relu_input worker_1 variance_ratio 81", "0 gradient/a worker_0 gradient_range 0",
                               "0 gradient/a worker_1 gradient_range 0"});
}

TEST_CASE("following: once done, it names a pattern without tensors, though the job goes on") {
  RuleTrial trial(collections);
  trial.running();
  for (std::int64_t step = 0; step < 8; ++step) {
    trial.step(step, {{"loss", {static_cast<float>(100 - step)}}, {"a_relu_input", {-1, 1}}});
  }
  const Trial opened = trial.open();
  Evaluator evaluator(opened, {.follow = true});
  evaluator.add(make_rule(poor_weight_initialization, {{"activation_inputs_regex", "relu_imput"}, {"steps", "5"}}));
  evaluator.offer();
  REQUIRE(evaluator.all_done());
  const std::vector<std::string>& warnings = evaluator.results().front().warnings;
  CHECK(std::ranges::any_of(warnings, [](const std::string& warning) {
    return warning.starts_with("no tensor matches pattern 'relu_imput'");
  }));
}

TEST_CASE("parameters of PoorWeightInitialization") {
  CHECK(refused(poor_weight_initialization, {{"steps", "0.5"}}) == "bad_value steps");
  CHECK(refused(poor_weight_initialization, {{"patience", "0"}}) == "bad_value patience");
  CHECK(refused(poor_weight_initialization, {{"activation_inputs_regex", "["}}) == "bad_value activation_inputs_regex");
}

}  // namespace
}  // namespace smd::test
