// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::string overtraining = "Overtraining";
const std::map<std::string, std::vector<std::string>> losses = {{"losses", {"loss$"}}};

/// One step of training and one of validation, again and again, with these losses; training steps are 0, 2, 4, ….
struct Epochs : RuleTrial {
  explicit Epochs(const std::vector<std::pair<float, float>>& epochs) : RuleTrial(losses) {
    std::int64_t at = 0;
    for (const auto& [training, validation] : epochs) {
      step(2 * at, Mode::train, at, {{"loss", {training}}});
      step(2 * at + 1, Mode::eval, at, {{"loss", {validation}}});
      ++at;
    }
  }
};

TEST_CASE("an improvement of exactly delta is one, a smaller or none is not") {
  // validation: best 4; 3.5 is better by 0.5; 3.25 by 0.25 only; 3.5; 3
  const Epochs trial({{9, 4}, {8, 3.5F}, {7, 3.25F}, {6, 3.5F}, {5, 3}});
  const RuleResult result = trial.run(overtraining, {{"delta", "0.5"}, {"patience_validation", "1"}});
  // the training step after the phase
  REQUIRE(found(result) == Texts{"6 loss - validation 1", "8 loss - validation 2"});
  CHECK(result.findings[1].mode == Mode::train);
  CHECK(result.findings[1].message == "loss: validation 2 >= threshold 1");
  CHECK(result.steps_evaluated == 5);
  // no decrease at all is none, whatever delta
  CHECK(triggered_at(Epochs({{9, 4}, {8, 4}}).run(overtraining, {{"delta", "0"}, {"patience_validation", "1"}})) ==
        Steps{3});
}

TEST_CASE("patience of each side") {
  const Epochs trial({{1, 1}, {1, 1}, {1, 1}});  // the first observation is the best, the other two are stale
  CHECK(trial.run(overtraining, {{"patience_train", "3"}, {"patience_validation", "3"}}).findings.empty());
  const RuleResult both = trial.run(overtraining, {{"patience_train", "2"}, {"patience_validation", "2"}});
  // the end closes the last phase; training comes first
  REQUIRE(found(both) == Texts{"5 loss - train 2", "5 loss - validation 2"});
  CHECK(both.findings[1].mode == Mode::eval);
  CHECK(both.findings[1].mode_step == ModeStep(2));
}

TEST_CASE("a running job's last phase stays open") {
  Epochs trial({{1, 1}, {1, 1}});
  trial.running();
  const RuleResult result = trial.run(overtraining, {{"patience_validation", "1"}});
  CHECK(result.findings.empty());
  CHECK(result.steps_evaluated == 1);
}

TEST_CASE("NaN is no improvement; as the first loss it is worse than any other") {
  const ParameterTexts once = {{"patience_train", "99"}, {"patience_validation", "1"}};
  CHECK(triggered_at(Epochs({{1, 1}, {1, nan}, {1, 0.5F}}).run(overtraining, once)) == Steps{4});
  CHECK(triggered_at(Epochs({{1, nan}, {1, 5}, {1, 4}}).run(overtraining, once)).empty());
  CHECK(triggered_at(Epochs({{1, nan}, {1, nan}}).run(overtraining, once)) == Steps{3});
  const RuleResult one_side = Epochs({{3, nan}, {2, nan}, {1, nan}}).run(overtraining);
  CHECK(one_side.status == RuleStatus::no_issues_found);
  CHECK(one_side.warnings ==
        std::vector<std::string>{"loss: 3 of 3 validation values are NaN: no better than any other"});
  CHECK(Epochs({{nan, nan}, {nan, nan}}).run(overtraining).status == RuleStatus::not_evaluated);
  CHECK(Epochs({{nan, nan}, {nan, nan}}).run(overtraining, once).status == RuleStatus::issues_found);
}

TEST_CASE("a phase is its mean; a phase without training observes validation alone") {
  RuleTrial trial(losses);
  trial.step(0, Mode::eval, 0, {{"loss", {2}}});
  trial.step(1, Mode::train, 0, {{"other", {0}}});
  trial.step(2, Mode::eval, 1, {{"loss", {1}}});
  trial.step(3, Mode::eval, 2, {{"loss", {3}}});  // mean 2: no better
  const RuleResult result = trial.run(overtraining, {{"patience_train", "1"}, {"patience_validation", "1"}});
  CHECK(found(result) == Texts{"3 loss - validation 1"});
  CHECK(result.steps_evaluated == 2);
}

TEST_CASE("XGBoost: each step is an observation") {
  RuleTrial trial(losses);
  for (std::int64_t at = 0; at < 3; ++at) {
    trial.step(at, {{"train-logloss", {static_cast<float>(3 - at)}}, {"validation-logloss", {1}}});
  }
  const RuleResult result = trial.run(overtraining, {{"patience_train", "1"}, {"patience_validation", "2"}});
  REQUIRE(found(result) == Texts{"2 validation-logloss - validation 2"});
  CHECK(result.findings[0].mode == Mode::global);
}

TEST_CASE("workers are pooled, integers count, and only the collection is looked at") {
  RuleTrial trial(losses, 2);
  for (std::int64_t at = 0; at < 4; ++at) {
    for (const char* const worker : {"worker_0", "worker_1"}) {
      const bool second = worker == std::string("worker_1");
      // one rises by as much as the other falls
      const std::int64_t loss = second ? 4 + at / 2 : 4 - at / 2;
      trial.step({.step = at,
                  .worker = worker,
                  .mode = at % 2 == 0 ? Mode::train : Mode::eval,
                  .mode_step = at / 2,
                  .tensors = {{"other", {1}}},
                  .values = {value_of<std::int64_t>("loss", Dtype::int64, {loss})}});
    }
  }
  const RuleResult result = trial.run(overtraining, {{"patience_train", "1"}, {"patience_validation", "1"}});
  CHECK(triggered_at(result) == Steps{3, 3});
  CHECK(result.tensors_matched == 1);
  RuleTrial none(RuleTrial::Collections{{"default", {"loss"}}});
  none.step(0, Mode::train, 0, {{"loss", {1}}}).step(1, Mode::eval, 0, {{"loss", {1}}});
  CHECK(none.run(overtraining).status == RuleStatus::not_evaluated);
}

TEST_CASE("parameters of Overtraining") {
  CHECK(refused(overtraining, {{"patience_train", "0"}}) == "bad_value patience_train");
  CHECK(refused(overtraining, {{"patience_validation", "1.5"}}) == "bad_value patience_validation");
  CHECK(refused(overtraining, {{"delta", "-0.1"}}) == "bad_value delta");
  CHECK(refused(overtraining, {{"tensor_regex", "a"}}) == "unknown_parameter tensor_regex");
}

TEST_CASE("what is known of a tensor counts, whether its steps have modes or not") {
  RuleTrial trial({{"losses", {"-x$"}}});
  trial.step(0, {{"train-x", {1}}, {"validation-x", {2}}});
  trial.step(1, Mode::train, 0, {{"validation-x", {1}}});
  trial.step(2, Mode::eval, 0, {{"validation-x", {2}}});
  trial.step(3, Mode::train, 1, {{"validation-x", {1}}});  // the second validation loss, and no better
  const RuleResult result = trial.run(overtraining, {{"patience_train", "9"}, {"patience_validation", "1"}});
  CHECK(triggered_at(result) == Steps{3});
}

}  // namespace
}  // namespace smd::test
