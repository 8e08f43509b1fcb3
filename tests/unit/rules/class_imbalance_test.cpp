// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::string class_imbalance = "ClassImbalance";

TEST_CASE("imbalance: exactly the threshold passes; samples are those of all steps of the mode") {
  RuleTrial trial;
  trial.step(0, {{"labels", {0, 0, 0, 1}}});
  trial.step(1, {{"labels", {0, 0, 0, 1}}});  // 6 of class 0, 2 of class 1
  trial.step(2, {{"labels", {0}}});           // 7 and 2
  const RuleResult result = trial.run(class_imbalance, {{"samples", "8"}, {"threshold_imbalance", "3"}});
  CHECK(found(result) == Texts{"2 labels - imbalance 3.5"});
  CHECK(result.steps_evaluated == 2);  // 8 labels from step 1 on
  CHECK(trial.run(class_imbalance, {{"samples", "10"}}).status == RuleStatus::not_evaluated);
  CHECK(trial.run(class_imbalance, {{"samples", "9"}}).steps_evaluated == 1);
}

TEST_CASE("misprediction: the worst class, exactly the threshold passes") {
  RuleTrial trial;
  // class 0: 1 of 4 wrong; class 1: 1 of 2
  trial.step(0, {{"labels", {0, 0, 0, 0, 1, 1}}, {"predictions", {0, 0, 0, 1, 0, 1}}});
  CHECK(trial.run(class_imbalance, {{"samples", "1"}, {"threshold_misprediction", "0.5"}}).findings.empty());
  const RuleResult result = trial.run(class_imbalance, {{"samples", "1"}, {"threshold_misprediction", "0.49"}});
  CHECK(found(result) == Texts{"0 predictions - misprediction 0.5"});
}

TEST_CASE("values are rounded to classes; NaN and infinities are of none") {
  RuleTrial trial;
  // labels 0, 1, 1, -1 and two that do not count; predictions 0, 1, none (wrong), -1
  trial.step(0, {{"labels", {0.49F, 0.5F, 1.4F, -0.6F, nan, inf}}, {"predictions", {0, 0.5F, nan, -1, 7, 7}}});
  const RuleResult result = trial.run(
      class_imbalance, {{"samples", "4"}, {"threshold_misprediction", "0.4"}, {"threshold_imbalance", "1.5"}});
  // labels: two of class 1, one of the others
  CHECK(found(result) == Texts{"0 labels - imbalance 2", "0 predictions - misprediction 0.5"});
  CHECK(trial.run(class_imbalance, {{"samples", "5"}}).status == RuleStatus::not_evaluated);
}

TEST_CASE("one-hot rows are labels, scores are predictions by arg max") {
  RuleTrial trial;
  // arg max: 1; 0, the first of equals; 1, as NaN is smallest
  trial.step({.values = {value_of<std::int32_t>("labels", Dtype::int32, {0, 1, 1, 0, 0, 1}, Shape{3, 2}),
                         value_of<float>("predictions", Dtype::float32, {0.1F, 0.9F, 5, 5, nan, -9}, Shape{3, 2})}});
  const RuleResult result = trial.run(
      class_imbalance,
      {{"samples", "3"}, {"argmax", "True"}, {"threshold_misprediction", "0"}, {"threshold_imbalance", "1.9"}});
  CHECK(found(result) == Texts{"0 labels - imbalance 2"});  // classes 1, 0, 1, all predicted
}

TEST_CASE("rows that are not all one-hot are elements, and so is a single column") {
  RuleTrial trial;
  trial.step({.values = {value_of<std::uint8_t>("labels", Dtype::uint8, {0, 1, 1, 1, 0, 1}, Shape{3, 2})}});
  trial.step(
      {.step = 1, .mode = Mode::eval, .values = {value_of<double>("labels", Dtype::float64, {1, 1, 1}, Shape{3, 1})}});
  // step 0: four ones and two zeros; step 1, which has its own counts: three ones
  const RuleResult result = trial.run(class_imbalance, {{"samples", "3"}, {"threshold_imbalance", "0.5"}});
  REQUIRE(found(result) == Texts{"0 labels - imbalance 2", "1 labels - imbalance 1"});
  CHECK(result.findings[1].mode == Mode::eval);
}

TEST_CASE("without as many predictions only the labels count") {
  RuleTrial trial;
  trial.step(0, {{"labels", {0, 1}}, {"predictions", {1, 0, 1}}});
  trial.step(1, {{"labels", {0, 1}}, {saved("mean", "predictions"), {1}}});
  trial.step(2, {{"predictions", {1, 0}}});
  trial.step(3, {{"labels", {}}});
  const RuleResult result =
      trial.run(class_imbalance, {{"samples", "1"}, {"threshold_misprediction", "-1"}, {"threshold_imbalance", "0.5"}});
  CHECK(triggered_at(result) == Steps{0, 1});
  CHECK(result.steps_evaluated == 2);
}

TEST_CASE("predictions that are never as many as the labels give a warning") {
  const std::vector<float> rows = {9, 0, 0, 0, 9, 0, 0, 0};
  RuleTrial trial;
  trial.step({.values = {value_of<float>("labels", Dtype::float32, {0, 1}, Shape{2}),
                         value_of<float>("predictions", Dtype::float32, rows, Shape{2, 4})}});
  const RuleResult scores = trial.run(class_imbalance, {{"samples", "1"}});
  CHECK(scores.status == RuleStatus::no_issues_found);
  CHECK(scores.doubtful);
  CHECK(
      scores.warnings ==
      Texts{"there are 4 predictions for each label in mode TRAIN: only labels counted; are they scores (argmax=1)?"});
  const RuleResult classes = trial.run(class_imbalance, {{"samples", "1"}, {"argmax", "1"}});
  CHECK(found(classes) == Texts{"0 predictions - misprediction 1"});
  CHECK(classes.warnings.empty());
  // Where some were as many, the others are a part of a batch.
  trial.step(1, Mode::train, 1, {{"labels", {0, 1}}, {"predictions", {0, 1}}});
  CHECK(trial.run(class_imbalance, {{"samples", "1"}}).warnings.empty());
  // But not in another mode.
  trial.step({.step = 2,
              .mode = Mode::eval,
              .values = {value_of<float>("labels", Dtype::float32, {0, 1}, Shape{2}),
                         value_of<float>("predictions", Dtype::float32, rows, Shape{2, 4})}});
  CHECK(trial.run(class_imbalance, {{"samples", "1"}}).warnings ==
        Texts{"there are 4 predictions for each label in mode EVAL: only labels counted; are they scores (argmax=1)?"});
  RuleTrial three;
  three.step(0, {{"labels", {0, 1}}, {"predictions", {1, 0, 1}}});
  CHECK(
      three.run(class_imbalance, {{"samples", "1"}}).warnings ==
      Texts{
          "there are 1.5 predictions for each label in mode GLOBAL: only labels counted; are they scores (argmax=1)?"});
}

TEST_CASE("tensors are paired by the order of their names, workers by themselves and counted together") {
  RuleTrial trial({}, 2);
  for (const char* const worker : {"worker_0", "worker_1"}) {
    const bool second = worker == std::string("worker_1");
    trial.step(
        {.worker = worker,
         .tensors = {
             {"b/labels", {1}}, {"a/labels", {0}}, {"z/predictions", {second ? 0.0F : 1.0F}}, {"y/predictions", {0}}}});
  }
  const RuleResult result = trial.run(class_imbalance, {{"samples", "4"}, {"threshold_misprediction", "0.4"}});
  // a with y: right; b with z: wrong at worker_1
  CHECK(found(result) == Texts{"0 y/predictions - misprediction 0.5"});
}

TEST_CASE("with more or fewer tensors of predictions than of labels only the labels count") {
  RuleTrial trial;
  trial.step(0, {{"age/labels", {0, 1}}, {"sex/labels", {1, 0}}, {"sex/predictions", {1, 0}}});
  trial.step(1, {{"age/labels", {0, 1}}, {"age/predictions", {0, 1}}, {"sex/predictions", {1, 0}}});
  trial.step(2, {{"age/labels", {0, 1}}, {"sex/labels", {1, 0}}});  // no prediction at all is nothing to warn of
  const ParameterTexts strict = {{"samples", "1"}, {"threshold_misprediction", "-1"}};
  const RuleResult result = trial.run(class_imbalance, strict);
  CHECK(result.status == RuleStatus::no_issues_found);
  CHECK(result.steps_evaluated == 3);
  CHECK(result.warnings ==
        Texts{"at 2 steps there were not as many tensors of predictions as of labels: only labels counted"});
  // All are there: of class 1, four labels have a prediction, and one of these is wrong.
  trial.step(
      3, {{"age/labels", {1, 1}}, {"sex/labels", {1, 1}}, {"age/predictions", {1, 1}}, {"sex/predictions", {1, 0}}});
  CHECK(found(trial.run(class_imbalance, strict)) == Texts{"3 age/predictions - misprediction 0.25"});
}

TEST_CASE("many classes, also large and negative ones") {
  RuleTrial trial;
  std::vector<float> labels;
  for (int i = 0; i < 3000; ++i) {
    labels.push_back(static_cast<float>(i % 1000) * 1000 - 5000);  // each class three times
  }
  labels.push_back(-5000);
  trial.step(0, {{"labels", labels}, {"predictions", labels}});
  const RuleResult result =
      trial.run(class_imbalance, {{"threshold_imbalance", "1.3"}, {"threshold_misprediction", "0"}});
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].value == doctest::Approx(4.0 / 3));
}

TEST_CASE("parameters of ClassImbalance") {
  CHECK(refused(class_imbalance, {{"samples", "0"}}) == "bad_value samples");
  CHECK(refused(class_imbalance, {{"argmax", "yes"}}) == "bad_value argmax");
  CHECK(refused(class_imbalance, {{"labels_regex", "("}}) == "bad_value labels_regex");
  CHECK(refused(class_imbalance, {{"labels_regex", "a{1,2}"}}).empty());  // one pattern, with its comma
}

}  // namespace
}  // namespace smd::test
