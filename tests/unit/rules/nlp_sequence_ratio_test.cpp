// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::string nlp_sequence_ratio = "NLPSequenceRatio";

TEST_CASE("a percentage on the threshold passes, NaN is no token, empty sequences are passed over") {
  RuleTrial trial;
  trial.step(0, {{"embedding0_input_0", {0, 0, 1, 2}}});
  trial.step(1, {{"embedding0_input_0", {0, 0, -0.0F, nan}}});
  trial.step(2, {{"embedding0_input_0", {}}});
  trial.step(3, {{saved("mean", "embedding0_input_0"), {0}}});
  const RuleResult result = trial.run(nlp_sequence_ratio);
  REQUIRE(found(result) == Texts{"1 embedding0_input_0 worker_0 token=0 75"});
  CHECK(result.findings[0].threshold == 50);
  CHECK(result.steps_evaluated == 2);
}

TEST_CASE("several tokens with their thresholds, in the order of the list, per worker") {
  RuleTrial trial({}, 2);
  for (const char* const worker : {"worker_0", "worker_1"}) {
    trial.step(
        {.worker = worker, .tensors = {{"tokens", {2, 0.5F, 0.5F, worker == std::string("worker_1") ? 2.0F : inf}}}});
  }
  const RuleResult result = trial.run(
      nlp_sequence_ratio,
      {{"tensor_regex", "none,^tokens"}, {"token_values", "2, 0.5, inf"}, {"token_thresholds_percent", "25, 25, 24"}});
  CHECK(found(result) == Texts{"0 tokens worker_0 token=0.5 50", "0 tokens worker_0 token=inf 25",
                               "0 tokens worker_1 token=2 50", "0 tokens worker_1 token=0.5 50"});
}

/// Percentages of the tokens 1, 1.5, -1, 300 and 2^53 that were found.
template <class T>
std::vector<double> percentages(Dtype dtype, const std::vector<T>& elements) {
  RuleTrial trial;
  trial.step({.values = {value_of<T>("tokens", dtype, elements)}});
  return values(trial.run(nlp_sequence_ratio, {{"tensor_regex", "tokens"},
                                               {"token_values", "1,1.5,-1,300,9007199254740992"},
                                               {"token_thresholds_percent", "-1,-1,-1,-1,-1"}}));
}

TEST_CASE("integers of every width are compared as the numbers they are") {
  using Values = std::vector<double>;
  CHECK(percentages<std::int64_t>(Dtype::int64, {1, -1, -1, 300}) == Values{25, 0, 50, 25, 0});
  CHECK(percentages<std::uint8_t>(Dtype::uint8, {1, 255, 44, 44}) == Values{25, 0, 0, 0, 0});  // 300 - 256 = 44
  CHECK(percentages<std::uint64_t>(Dtype::uint64, {~std::uint64_t{0}, 1}) == Values{50, 0, 0, 0, 0});
  CHECK(percentages<std::uint8_t>(Dtype::boolean, {1, 0, 1, 1}) == Values{75, 0, 0, 0, 0});
  CHECK(percentages<double>(Dtype::float64, {1.5, 9007199254740992.0}) == Values{0, 50, 0, 0, 50});
  // As doubles 2^53 + 1 is 2^53.
  CHECK(percentages<std::int64_t>(Dtype::int64, {9007199254740993, 9007199254740994}) == Values{0, 0, 0, 0, 50});
}

TEST_CASE("long sequences") {
  std::vector<std::int32_t> tokens(10007, 7);
  for (std::size_t i = 0; i < tokens.size(); i += 10) {
    tokens[i] = 1;  // 1001 of them
  }
  CHECK(percentages<std::int32_t>(Dtype::int32, tokens)[0] == doctest::Approx(100 * 1001 / 10007.0).epsilon(1e-14));
}

TEST_CASE("parameters of NLPSequenceRatio") {
  CHECK(refused(nlp_sequence_ratio, {{"token_values", "0,1"}}) == "bad_value token_thresholds_percent");
  CHECK(refused(nlp_sequence_ratio, {{"token_values", "0,1"}, {"token_thresholds_percent", "5,5"}}).empty());
  CHECK(refused(nlp_sequence_ratio, {{"token_values", "0,x"}}) == "bad_value token_values");
  CHECK(refused(nlp_sequence_ratio, {{"token_values", ","}, {"token_thresholds_percent", ","}}) ==
        "bad_value token_values");
}

}  // namespace
}  // namespace smd::test
