// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::string tree_depth = "TreeDepth";

TEST_CASE("depths around powers of two") {
  RuleTrial trial;
  // 0, 0 (id 1), 1 (id 3), 2 (id 4), 4 (id 31), 5 (id 32)
  const std::vector<float> largest = {0, 1, 3, 4, 31, 32};
  for (std::size_t i = 0; i < largest.size(); ++i) {
    trial.step(static_cast<std::int64_t>(i), {{"trees/Node", {0, largest[i]}}});
  }
  const RuleResult result = trial.run(tree_depth);
  REQUIRE(found(result) == Texts{"5 trees/Node worker_0 depth 5"});
  CHECK(result.findings[0].message == "trees/Node: depth 5 > threshold 4");
  CHECK(result.steps_evaluated == 6);
  CHECK(triggered_at(trial.run(tree_depth, {{"depth", "0"}})) == Steps{2, 3, 4, 5});
  CHECK(triggered_at(trial.run(tree_depth, {{"depth", "3.9"}})) == Steps{4, 5});
  CHECK(triggered_at(trial.run(tree_depth, {{"depth", "-1"}})).size() == 6);
}

TEST_CASE("trees: the saved max is enough; NaN, empty and other tensors; integers beyond float") {
  RuleTrial trial({}, 2);
  trial.step(0, {{saved("max", "trees/Node"), {64}}, {"trees/Nodes", {1e6F}}});
  trial.step(1, {{"trees/Node", {nan, 64}}});
  trial.step(2, {{"trees/Node", {}}});
  trial.step(3, {{"trees/Node", {-1}}});
  for (const char* const worker : {"worker_0", "worker_1"}) {
    // one below a power of two, where a logarithm rounds up
    const std::int64_t largest = (std::int64_t{1} << 52) - (worker[7] == '0' ? 1 : 0);
    trial.step({.step = 4,
                .worker = worker,
                .mode = Mode::global,
                .mode_step = 4,
                .values = {value_of<std::int64_t>("trees/Node", Dtype::int64, {largest})}});
  }
  const RuleResult result = trial.run(tree_depth);
  CHECK(found(result) ==
        Texts{"0 trees/Node worker_0 depth 6", "4 trees/Node worker_0 depth 51", "4 trees/Node worker_1 depth 52"});
  CHECK(result.steps_evaluated == 4);  // 0, 1, 3, 4
}

TEST_CASE("parameters of TreeDepth") {
  CHECK(refused(tree_depth, {{"depth", "deep"}}) == "bad_value depth");
  CHECK(refused(tree_depth, {{"depth", "inf"}}).empty());
}

}  // namespace
}  // namespace smd::test
