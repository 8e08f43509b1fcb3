// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::string confusion = "Confusion";

TEST_CASE("diagonal and the rest, exactly at the thresholds and beyond") {
  RuleTrial trial;
  // predicted as 0: labels 0, 0, 0, 1; as 1: labels 1, 1
  trial.step(0, {{"labels", {0, 0, 0, 1, 1, 1}}, {"predictions", {0, 0, 0, 0, 1, 1}}});
  CHECK(trial.run(confusion, {{"min_diag", "0.75"}, {"max_off_diag", "0.25"}}).findings.empty());
  const RuleResult result = trial.run(confusion, {{"min_diag", "0.76"}, {"max_off_diag", "0.24"}});
  REQUIRE(found(result) == Texts{"0 predictions - diag 0.75", "0 predictions - off_diag 0.25"});
  CHECK(result.findings[1].details ==
        std::vector<std::pair<std::string, std::string>>{{"label", "1"}, {"prediction", "0"}});
}

TEST_CASE("a perfect prediction of many classes passes, a class never right has 0") {
  RuleTrial trial;
  std::vector<float> classes;
  for (int i = 0; i < 200; ++i) {
    classes.push_back(static_cast<float>(i));
  }
  trial.step(0, {{"labels", classes}, {"predictions", classes}});
  trial.step(1, {{"labels", {100, 3}}, {"predictions", {3, 100}}});
  const RuleResult result = trial.run(confusion);
  REQUIRE(found(result) == Texts{"1 predictions - diag 0", "1 predictions - off_diag 1"});
  CHECK(result.findings[0].details[0].second == "3");  // the lowest of equals
  CHECK(result.findings[1].details[0].second == "3");  // the lowest label
  CHECK(result.steps_evaluated == 2);
}

TEST_CASE("a class that has labels and is never predicted has 0, one without labels is not looked at") {
  RuleTrial trial;
  // predicted as 0: nine 0 and one 2, a share of 0.9; 1 has neither labels nor predictions; 2 is never predicted
  trial.step(0, {{"labels", {0, 0, 0, 0, 0, 0, 0, 0, 0, 2}}, {"predictions", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}});
  const RuleResult result = trial.run(confusion);
  REQUIRE(found(result) == Texts{"0 predictions - diag 0"});
  CHECK(result.findings[0].details ==
        std::vector<std::pair<std::string, std::string>>{{"label", "2"}, {"prediction", "2"}});
  CHECK(trial.run(confusion, {{"min_diag", "0"}}).findings.empty());
  CHECK(trial.run(confusion, {{"category_no", "2"}}).findings.empty());  // 2 is out of range
}

TEST_CASE("numbers that are no class, negative or not below category_no are left out") {
  RuleTrial trial;
  trial.step(0, {{"labels", {0, nan, 0, -1, 2, 0}}, {"predictions", {0, 0, inf, 0, 0, 2}}});
  CHECK(trial.run(confusion, {{"category_no", "2"}}).findings.empty());
  CHECK(trial.run(confusion, {{"category_no", "2"}}).steps_evaluated == 1);
  CHECK(trial.run(confusion, {{"category_no", "3"}}).findings.size() == 2);  // 2 as 0 and 0 as 2
  trial.step(1, {{"labels", {nan}}, {"predictions", {0}}});
  CHECK(trial.run(confusion, {{"category_no", "2"}}).steps_evaluated == 1);
}

TEST_CASE("scores by arg max, probabilities by one half, one-hot labels") {
  RuleTrial trial;
  const auto add = [&](std::int64_t at, const BuiltValue& labels, const BuiltValue& predictions) {
    trial.step({.step = at, .mode = Mode::global, .mode_step = at, .values = {labels, predictions}});
  };
  add(0, value_of<std::int64_t>("labels", Dtype::int64, {1, 0}),
      value_of<float>("predictions", Dtype::float32, {0, 1, 0, 3, 2, 2}, Shape{2, 3}));  // arg max 1 and 0
  add(1, value_of<std::uint8_t>("labels", Dtype::uint8, {0, 1, 1, 0}, Shape{2, 2}),
      value_of<float>("predictions", Dtype::float32, {0.5F, 0.49F}));
  add(2, value_of<float>("labels", Dtype::float32, {0, 1}),
      value_of<float>("predictions", Dtype::float32, {0, 1, 0}));  // neither as many nor rows
  const RuleResult result = trial.run(confusion);
  CHECK(result.findings.empty());
  CHECK(result.steps_evaluated == 2);
  CHECK(result.steps_skipped == 1);
}

TEST_CASE("tensors by name, else by collection, else by a collection of that name") {
  const RuleTrial::Collections collections = {{"truth", {"^t_"}}, {"guess", {"^g_"}}, {"labels", {"^l_"}}};
  RuleTrial trial(collections);
  trial.step(0, {{"t_b", {0}}, {"t_a", {1}}, {"g_a", {0}}, {"l_a", {0}}});
  trial.step(1, {{"labels", {0}}, {"t_a", {1}}, {"g_a", {0}}});
  trial.step(2, {{"l_a", {1}}, {"g_a", {0}}});
  trial.step(3, {{"t_a", {1}}});
  trial.step(4, {{saved("mean", "t_a"), {1}}, {"g_a", {1}}});
  // 0: t_a; 1: labels; 2: l_a of the collection labels; 3 and 4: one of the two is missing
  const RuleResult result = trial.run(confusion, {{"labels_collection", "truth"}, {"predictions_collection", "guess"}});
  CHECK(triggered_at(result) == Steps{0, 0, 2, 2});
  CHECK(result.findings[0].tensor == "g_a");
  CHECK(result.steps_evaluated == 3);
  CHECK(trial.run(confusion, {{"labels", "truth"}, {"predictions", "guess"}, {"labels_collection", "none"}})
            .steps_evaluated == 2);  // 0 and 1, where labels is no more than a name that was not asked for
  CHECK(trial.run(confusion).status == RuleStatus::not_evaluated);
  // An empty tensor is there: none of a collection takes its place, and the step has nothing to judge.
  trial.step(5, {{"labels", {}}, {"t_a", {1}}, {"g_a", {0}}});
  CHECK(trial.run(confusion, {{"labels_collection", "truth"}, {"predictions_collection", "guess"}}).steps_evaluated ==
        3);
}

TEST_CASE("workers are pooled, each with its own predictions; modes are not told apart") {
  RuleTrial trial({}, 2);
  for (const char* const worker : {"worker_0", "worker_1"}) {
    const bool second = worker == std::string("worker_1");
    trial.step({.worker = worker,
                .mode = Mode::eval,
                .tensors = {{"labels", {second ? 1.0F : 0.0F, 0, 1}}, {"predictions", {0, 0, 1}}}});
  }
  const RuleResult result = trial.run(confusion);  // predicted as 0: three 0, one 1
  REQUIRE(found(result) == Texts{"0 predictions - diag 0.75", "0 predictions - off_diag 0.25"});
  CHECK(result.findings[0].mode == Mode::eval);
}

TEST_CASE("parameters of Confusion") {
  CHECK(refused(confusion, {{"category_no", "1"}}) == "bad_value category_no");
  CHECK(refused(confusion, {{"category_no", "None"}}).empty());
  CHECK(refused(confusion, {{"min_diag", "1.1"}}) == "bad_value min_diag");
  CHECK(refused(confusion, {{"max_off_diag", "-0.1"}}) == "bad_value max_off_diag");
  CHECK(refused(confusion, {{"min_diag", "0"}, {"max_off_diag", "1"}}).empty());
}

}  // namespace
}  // namespace smd::test
