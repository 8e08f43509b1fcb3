// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::string feature_importance_overweight = "FeatureImportanceOverweight";
const std::string weight = "feature_importance/weight/";

TEST_CASE("a share on the threshold passes; all elements of all tensors count together") {
  RuleTrial trial;
  trial.step(0, {{weight + "f0", {0.125F}}, {weight + "f1", {0.5F, 0.25F}}, {weight + "f2", {0.125F}}});
  CHECK(trial.run(feature_importance_overweight, {{"nfeatures", "2"}, {"threshold", "0.75"}}).findings.empty());
  const RuleResult result = trial.run(feature_importance_overweight, {{"nfeatures", "2"}, {"threshold", "0.74"}});
  CHECK(found(result) == Texts{"0 " + weight + "f1 worker_0 share 0.75"});
}

TEST_CASE("no more features than nfeatures: exactly all of it") {
  RuleTrial trial;
  trial.step(0, {{weight + "f0", {0.1F}}, {weight + "f1", {0.7F}}, {weight + "f2", {0.2F}}});
  const RuleResult result = trial.run(feature_importance_overweight);
  CHECK(found(result) == Texts{"0 " + weight + "f1 worker_0 share 1"});
  CHECK(trial.run(feature_importance_overweight, {{"threshold", "1"}}).findings.empty());
}

TEST_CASE("a total of 0, below, or NaN is skipped; the share of an infinite one is NaN, and there is a warning") {
  RuleTrial trial;
  trial.step(0, {{weight + "f0", {0}}, {weight + "f1", {0}}});
  trial.step(1, {{weight + "f0", {-1}}});
  trial.step(2, {{weight + "f0", {nan, 1, 5, nan, 2}}, {weight + "f1", {1}}});
  trial.step(3, {{weight + "f0", {}}});
  trial.step(4, {{saved("mean", weight + "f0"), {1}}});
  CHECK(trial.run(feature_importance_overweight).status == RuleStatus::not_evaluated);
  trial.step(5, {{weight + "f0", {inf}}});
  const RuleResult infinite = trial.run(feature_importance_overweight);
  CHECK(infinite.status == RuleStatus::not_evaluated);
  CHECK(infinite.warnings == Texts{weight + "f0: 1 of 1 share is NaN: not compared"});
  trial.step(6, {{weight + "f0", {1, 1, 1, 1, 1}}});
  CHECK(trial.run(feature_importance_overweight).status == RuleStatus::no_issues_found);
}

TEST_CASE("each worker by itself; the first name of equals; integers") {
  RuleTrial trial({}, 2);
  for (const char* const worker : {"worker_0", "worker_1"}) {
    const std::int32_t other = worker == std::string("worker_1") ? 3 : 1;
    trial.step({.worker = worker,
                .mode = Mode::eval,
                .values = {value_of<std::int32_t>(weight + "f2", Dtype::int32, {3}),
                           value_of<std::int32_t>(weight + "f1", Dtype::int32, {other})}});
  }
  const RuleResult result = trial.run(feature_importance_overweight, {{"nfeatures", "1"}, {"threshold", "0.4"}});
  // 3 of 6, by tensor f1; 3 of 4
  CHECK(found(result) == Texts{"0 " + weight + "f1 worker_1 share 0.5", "0 " + weight + "f2 worker_0 share 0.75"});
}

TEST_CASE("parameters of FeatureImportanceOverweight") {
  CHECK(refused(feature_importance_overweight, {{"nfeatures", "0"}}) == "bad_value nfeatures");
  CHECK(refused(feature_importance_overweight, {{"tensor_regex", "*"}}) == "bad_value tensor_regex");
}

}  // namespace
}  // namespace smd::test
