// SPDX-License-Identifier: Apache-2.0
// DeadRelu and SaturatedActivation, which count node by node.
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

RuleTrial& matrix(RuleTrial& trial, const std::string& name, const std::vector<float>& elements, Shape shape) {
  return trial.step({.values = {value_of<float>(name, Dtype::float32, elements, std::move(shape))}});
}

TEST_CASE("DeadRelu: samples along axis 0, nodes over the others") {
  RuleTrial trial;
  // Four samples of four nodes; active in 0, 1, 2 and 4 of 4 samples.
  matrix(trial, "relu_output", {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1, -1, 1, 1, inf}, {4, 2, 2});
  // Activity 25 is not below 25: one node of four is dead; 26: two of four, which is not above 50.
  CHECK(trial.run("DeadRelu", {{"threshold_inactivity", "25"}}).findings.empty());
  CHECK(trial.run("DeadRelu", {{"threshold_inactivity", "26"}}).findings.empty());
  const RuleResult result = trial.run("DeadRelu", {{"threshold_inactivity", "26"}, {"threshold_layer", "49.9"}});
  CHECK(found(result) == Texts{"0 relu_output worker_0 dead_percent 50"});
  CHECK(trial.run("DeadRelu", {{"threshold_inactivity", "51"}}).findings.at(0).value == 75);
}

TEST_CASE("DeadRelu: one axis is one node, no axis one sample; NaN is inactive; integers; no value, no result") {
  RuleTrial trial;
  trial.step({.tensors = {{"a_relu_output", {0, 0, nan}}, {"b_relu_output", {}}, {saved("max", "c_relu_output"), {0}}},
              .values = {value_of<float>("d_relu_output", Dtype::float32, {0}, Shape{}),
                         value_of<std::int8_t>("e_relu_output", Dtype::int8, {-1, 0, -5, 0}, Shape{2, 2}),
                         value_of<std::uint16_t>("f_relu_output", Dtype::float16, {0x3c00, 0x3c00}, Shape{1, 2})}});
  const RuleResult result = trial.run("DeadRelu");
  CHECK(found(result) == Texts{"0 a_relu_output worker_0 dead_percent 100", "0 d_relu_output worker_0 dead_percent 100",
                               "0 e_relu_output worker_0 dead_percent 100"});  // f: 1.0 twice
}

TEST_CASE("SaturatedActivation: an input on a bound is saturated") {
  RuleTrial trial;
  // Two nodes, two samples. 9.4999 as float32 is 9.4998998…, below the double 9.4999: in range.
  matrix(trial, "tanh_input", {9.4999F, 100, 9.4999F, -100}, {2, 2});
  CHECK(trial.run("SaturatedActivation").findings.empty());  // 50 % is not above 50
  const RuleResult half = trial.run("SaturatedActivation", {{"threshold_layer", "49"}});
  CHECK(found(half) == Texts{"0 tanh_input worker_0 tanh 50"});
  RuleTrial edge;
  matrix(edge, "sigmoid_input", {2, -3}, {2, 1});
  const ParameterTexts bounds = {{"threshold_sigmoid_min", "-3"}, {"threshold_sigmoid_max", "2"}};
  CHECK(edge.run("SaturatedActivation", bounds).findings.size() == 1);
  ParameterTexts wider = bounds;
  wider["threshold_sigmoid_max"] = "2.0000001";  // between two floats: 2 is below it
  CHECK(edge.run("SaturatedActivation", wider).findings.empty());
}

TEST_CASE("SaturatedActivation: the later function in the name counts, in any case; neither is skipped") {
  RuleTrial trial;
  trial.step(0,
             {{"Tanh_then_SIGMOID_x", {15}}, {"sigmoid_then_tanh_x", {15}}, {"relu_x", {1e9F}}, {"tanh_nan_x", {nan}}});
  const RuleResult result = trial.run("SaturatedActivation", {{"tensor_regex", "_x$"}});
  // 15 is within sigmoid's bounds
  CHECK(found(result) == Texts{"0 sigmoid_then_tanh_x worker_0 tanh 100", "0 tanh_nan_x worker_0 tanh 100"});
  CHECK(result.tensors_matched == 3);
}

}  // namespace
}  // namespace smd::test
