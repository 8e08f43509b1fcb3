// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::string check_input_images = "CheckInputImages";

ParameterTexts with(ParameterTexts others) {
  others.emplace("regex", "input");
  others.emplace("threshold_samples", "1");
  return others;
}

/// One step with one value.
BuiltStep step_of(std::int64_t at, BuiltValue value, Mode mode = Mode::train) {
  return {.step = at, .mode = mode, .mode_step = at, .values = {std::move(value)}};
}

TEST_CASE("a mean on the threshold passes; images and pixels of all steps count") {
  RuleTrial trial;
  // two channels of two pixels: means 0.5 and -0.25, then of both steps 0.5 and (-0.5 - 1.75) / 4
  trial.step(step_of(0, value_of<float>("input", Dtype::float32, {0, 1, -0.5F, 0}, Shape{1, 2, 2})));
  trial.step(step_of(1, value_of<float>("input", Dtype::float32, {0, 1, -0.75F, -1}, Shape{1, 2, 2})));
  CHECK(triggered_at(trial.run(check_input_images, with({{"threshold_mean", "0.5"}}))) == Steps{1});
  const RuleResult result =
      trial.run(check_input_images, with({{"threshold_mean", "0.49"}, {"threshold_samples", "2"}}));
  REQUIRE(found(result) == Texts{"1 input - channel_mean -0.5625"});
  CHECK(result.findings[0].message == "input: |channel_mean -0.5625| > threshold 0.49");
  CHECK(result.findings[0].details[0].second == "1");
  CHECK(result.steps_evaluated == 1);
  CHECK(trial.run(check_input_images, with({{"threshold_samples", "3"}})).status == RuleStatus::not_evaluated);
}

TEST_CASE("the channel's axis: first, last, from the end, none") {
  RuleTrial trial;
  // {{1, 2, 3}, {5, 6, 7}, …}: last axis 3 means 3, 4, 5; axis 1 means 2 and 6; all 4
  trial.step(step_of(0, value_of<std::int16_t>("input", Dtype::int16, {1, 2, 3, 5, 6, 7}, Shape{1, 2, 3})));
  const auto mean = [&](const std::string& channel) {
    return trial.run(check_input_images, with({{"channel", channel}})).findings.at(0).value;
  };
  CHECK(mean("1") == 6);
  CHECK(mean("2") == 5);
  CHECK(mean("-1") == 5);
  CHECK(mean("-2") == 6);
  CHECK(mean("-3") == 4);
  CHECK(mean("3") == 4);
  CHECK(mean("-9") == 4);
}

TEST_CASE("long runs and odd lengths are added up whole") {
  RuleTrial trial;
  std::vector<std::uint8_t> pixels(std::size_t{2} * 3 * 1003, 0);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(i / 1003 % 3 == 1 ? i % 1003 % 256 : 1);
  }
  trial.step(step_of(0, value_of<std::uint8_t>("input", Dtype::uint8, pixels, Shape{2, 3, 1003})));
  // three times 0 … 255 and 0 … 234: (3 * 32640 + 27495) / 1003
  const RuleResult result = trial.run(check_input_images, with({}));
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].value == doctest::Approx((3 * 32640 + 27495) / 1003.0).epsilon(1e-14));
}

TEST_CASE("a value with other channels is left out, and so are NaN channels; empty values count for nothing") {
  RuleTrial trial;
  trial.step(step_of(0, value_of<float>("input", Dtype::float32, {nan, 9, 0.5F, 0.5F}, Shape{1, 2, 2})));
  trial.step(step_of(1, value_of<float>("input", Dtype::float32, {9, 9, 9}, Shape{1, 3, 1})));
  trial.step(step_of(2, value_of<float>("input", Dtype::float32, {}, Shape{0, 2, 2})));
  trial.step(step_of(3, value_of<float>("other", Dtype::float32, {9}, Shape{1, 1, 1})));
  const RuleResult result = trial.run(check_input_images, with({}));
  CHECK(found(result) == Texts{"0 input - channel_mean 0.5"});
  CHECK(result.steps_evaluated == 1);
}

TEST_CASE("workers are pooled, tensors and modes are not; a scalar is one image") {
  RuleTrial trial({}, 2);
  for (const char* const worker : {"worker_0", "worker_1"}) {
    const bool second = worker == std::string("worker_1");
    for (std::int64_t at = 0; at < 2; ++at) {
      BuiltStep step = step_of(at, value_of<float>("input_a", Dtype::float32, {second ? 3.0F : 1.0F}, Shape{}),
                               at == 0 ? Mode::train : Mode::eval);
      step.tensors = {{"input_b", {0}}};
      step.worker = worker;
      trial.step(step);
    }
  }
  const RuleResult two = trial.run(check_input_images, with({{"threshold_samples", "2"}}));
  CHECK(found(two) == Texts{"0 input_a - channel_mean 2", "1 input_a - channel_mean 2"});
  CHECK(trial.run(check_input_images, with({{"threshold_samples", "3"}})).status == RuleStatus::not_evaluated);
}

TEST_CASE("saved means will not do") {
  RuleTrial trial;
  trial.step(0, {{saved("mean", "input"), {9}}});
  CHECK(trial.run(check_input_images, with({})).status == RuleStatus::not_evaluated);
}

TEST_CASE("parameters of CheckInputImages") {
  CHECK(refused(check_input_images, {{"channel", "0"}}) == "bad_value channel");
  CHECK(refused(check_input_images, {{"channel", "-1"}}).empty());
  CHECK(refused(check_input_images, {{"threshold_samples", "0"}}) == "bad_value threshold_samples");
}

}  // namespace
}  // namespace smd::test
