// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

TEST_CASE("only steps and tensors of both sides are compared, with numpy's tolerance") {
  RuleTrial base;
  RuleTrial other;
  base.step(0, {{"a", {1, nan, inf}}, {"only", {1}}});
  other.step(0, {{"a", {1.000009F, nan, inf}}});  // within 1e-5 of itself
  base.step(1, {{"a", {1, 2, 3}}});
  other.step(1, {{"a", {1, 2.5F, -inf}}});  // two differ
  base.step(2, {{"a", {1}}});
  base.step(3, {{"a", {1, 2}}});
  other.step(3, {{"a", {1}}});
  const RuleResult result = base.run("SimilarAcrossRuns", {}, other);
  CHECK(found(result) == Texts{"1 a worker_0 value 2", "3 a worker_0 shape 2"});
  CHECK(result.steps_evaluated == 3);
  CHECK(result.steps_skipped == 1);
  CHECK(result.message == "a: value 2 > threshold 0, compared with " + other.open().path());
}

TEST_CASE("where one side has no value, the reductions of both decide") {
  RuleTrial base;
  RuleTrial other;
  base.step(0, {{"a", {1}}, {saved("min", "a"), {1}}, {saved("max", "a"), {nan}}, {saved("l1", "a"), {1}}});
  other.step(0, {{saved("min", "a"), {2}}, {saved("max", "a"), {nan}}});
  base.step(1, {{saved("min", "a"), {1}}});
  other.step(1, {{saved("max", "a"), {1}}});  // nothing in common
  const RuleResult result = base.run("SimilarAcrossRuns", {}, other);
  CHECK(found(result) == Texts{"0 a worker_0 reduction 1"});
  CHECK(result.steps_evaluated == 1);
}

TEST_CASE("a step in another mode is another step; types may differ") {
  RuleTrial base;
  RuleTrial other;
  base.step(0, Mode::train, 0, {{"a", {1}}}).step(1, {{"b", {1, 2}}});
  other.step(0, Mode::eval, 0, {{"a", {2}}});
  other.step(
      {.step = 1, .mode = Mode::global, .mode_step = 1, .values = {value_of<std::int32_t>("b", Dtype::int32, {1, 3})}});
  CHECK(found(base.run("SimilarAcrossRuns", {}, other)) == Texts{"1 b worker_0 value 1"});
}

TEST_CASE("workers of the same name; one on each side are a pair whatever their names") {
  RuleTrial base({}, 2);
  RuleTrial two({}, 2);
  RuleTrial one;
  const auto add = [](RuleTrial& trial, const char* worker, float value) {
    trial.step({.worker = worker, .mode = Mode::global, .tensors = {{"a", {value}}}});
  };
  add(base, "worker_0", 1);
  add(base, "worker_1", 2);
  add(two, "worker_0", 1);
  add(two, "worker_1", 3);
  add(one, "worker_7", 5);
  CHECK(found(base.run("SimilarAcrossRuns", {}, two)) == Texts{"0 a worker_1 value 1"});
  CHECK(base.run("SimilarAcrossRuns", {}, one).status == RuleStatus::not_evaluated);
  RuleTrial alone;
  add(alone, "worker_0", 1);
  CHECK(alone.run("SimilarAcrossRuns", {}, one).findings.size() == 1);
  CHECK(refused("SimilarAcrossRuns", {{"other_trial_0", "x"}}).empty());
}

TEST_CASE("at a step that one of several workers wrote, too, workers of one name are compared") {
  for (const auto& [stated, listed] : {std::pair(2, true), std::pair(1, true), std::pair(1, false)}) {
    RuleTrial base({}, stated);
    RuleTrial other({}, stated);
    for (RuleTrial* const trial : {&base, &other}) {
      if (listed) {  // otherwise only index files name the worker
        trial->builder().collections("worker_1", stated);
      }
      trial->step({.step = 0, .mode = Mode::global, .tensors = {{"a", {1}}}});
      trial->step({.step = 0, .worker = "worker_1", .mode = Mode::global, .tensors = {{"a", {2}}}});
    }
    base.step({.step = 1, .worker = "worker_1", .mode = Mode::global, .tensors = {{"a", {3}}}});
    other.step({.step = 1, .worker = "worker_0", .mode = Mode::global, .tensors = {{"a", {4}}}});
    const RuleResult result = base.run("SimilarAcrossRuns", {}, other);
    CHECK(found(result) == Texts{});
    CHECK(result.steps_evaluated == 1);
    // A trial of one worker is compared at the steps that one worker of the other wrote.
    RuleTrial one;
    one.step({.step = 0, .worker = "worker_7", .mode = Mode::global, .tensors = {{"a", {5}}}});
    one.step({.step = 1, .worker = "worker_7", .mode = Mode::global, .tensors = {{"a", {5}}}});
    CHECK(found(base.run("SimilarAcrossRuns", {}, one)) == Texts{"1 a worker_1 value 1"});
    CHECK(found(one.run("SimilarAcrossRuns", {}, base)) == Texts{"1 a worker_7 value 1"});
  }
}

TEST_CASE("without the trial to compare with, the rule is an error") {
  RuleTrial base;
  base.step(0, {{"a", {1}}});
  const RuleResult result = base.run("SimilarAcrossRuns", {{"other_trial", "elsewhere"}});
  CHECK(result.status == RuleStatus::error);
  CHECK(result.error_kind == ConfigurationErrorKind::missing_parameter);
  CHECK(result.error_parameter == "other_trial");
  CHECK(result.message == "SimilarAcrossRuns was added without the trial to compare with");
}

TEST_CASE("a tensor of both trials that no common step has gives a warning") {
  RuleTrial base;
  RuleTrial other;
  base.step(1, {{"loss", {2}}}).step(2, {{"loss", {1}}, {"val", {5}}}).step(3, {{"loss", {1}}});
  other.step(1, {{"loss", {2}}, {"val", {7}}}).step(2, {{"loss", {1}}}).step(3, {{"loss", {1}}});
  const RuleResult result = base.run("SimilarAcrossRuns", {}, other);
  CHECK(result.status == RuleStatus::no_issues_found);
  CHECK(result.warnings ==
        std::vector<std::string>{"val is in both trials, but at no common step: it was not compared"});
  other.step(4, {{"val", {7}}});
  base.step(4, {{"val", {7}}});
  CHECK(base.run("SimilarAcrossRuns", {}, other).warnings.empty());
}

}  // namespace
}  // namespace smd::test
