// SPDX-License-Identifier: Apache-2.0
// What a result says of a rule that evaluated nothing, and of tensors that only one of two trials has.
#include "framework/nothing_evaluated.hpp"

#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const RuleTrial::Collections losses = {{"losses", {"loss"}}};
using Words = std::vector<std::string>;

std::string why(const RuleResult& result) {
  CHECK(result.status == RuleStatus::not_evaluated);
  const std::string begin = "nothing was evaluated: ";
  CHECK(result.message.starts_with(begin));
  return result.message.substr(begin.size());
}

TEST_CASE("a pattern without a match names the nearest tensors, as the parameter to give") {
  RuleTrial trial;
  trial.step(0, {{"relu1_output_0", {1}}, {"relu0_input_0", {1}}, {"conv.bias", {1}}});
  CHECK(why(trial.run("DeadRelu")) ==
        "no tensor matches pattern '.*relu_output'; did you mean tensor_regex=relu1_output_0?");
  CHECK(why(trial.run("AllZero", {{"tensor_regex", "convbias, nosuch"}})) ==
        "no tensor matches pattern 'convbias'; did you mean tensor_regex=conv.bias?; no tensor matches pattern "
        "'nosuch', and none of 3 tensors has a similar name");
  // What it says works.
  CHECK(trial.run("DeadRelu", {{"tensor_regex", "relu1_output_0"}}).steps_evaluated == 1);
  RuleTrial odd;
  odd.step(0, {{"relu_out(0)", {1}}});
  CHECK(why(odd.run("DeadRelu", {{"tensor_regex", "relu_out_0"}})) ==
        "no tensor matches pattern 'relu_out_0'; did you mean tensor_regex=relu_out\\(0\\)?");
}

TEST_CASE("the plain pieces of patterns") {
  using detail::rules::plain_pieces;
  CHECK(plain_pieces(".*relu_output") == Words{"relu_output"});
  CHECK(plain_pieces("tanh_input|.*sigmoid_input$") == Words{"tanh_input", "sigmoid_input"});
  CHECK(plain_pieces(R"(^conv\d+[0-9]weights?\.0)") == Words{"weight"});
  CHECK(plain_pieces(R"(a\.b)") == Words{"a.b"});
  CHECK(plain_pieces(".*").empty());
}

TEST_CASE("a collection that is unknown or empty") {
  RuleTrial trial(losses);
  trial.step(0, {{"weight_0", {1}}});
  CHECK(why(trial.run("WeightUpdateRatio")) == "the trial has no collection 'weights'; similar names: weight_0");
  CHECK(why(trial.run("AllZero", {{"collection_names", "loses"}})) ==
        "the trial has no collection 'loses'; did you mean collection_names=losses?");
  CHECK(why(trial.run("AllZero", {{"collection_names", "losses"}})) == "collection 'losses' has no tensor");
}

TEST_CASE("tensors that are there, but not as the rule needs them") {
  RuleTrial trial(losses);
  trial.step(0, {{saved("abs_mean", "relu_output"), {1}}});
  CHECK(
      why(trial.run("DeadRelu")) ==
      "of 1 tensor (relu_output) only reductions were saved (abs_mean), not those that the rule needs, nor raw values");
  CHECK(why(trial.run("DeadRelu", {}, {.start = GlobalStep(5)})) == "no step of the trial is in range");
  RuleTrial few(losses);
  few.step(0, {{"loss", {1}}}).step(1, {{"loss", {1}}});
  CHECK(why(few.run("LossNotDecreasing")) ==
        "no loss was saved at two steps of one mode that are num_steps (10) apart");
  CHECK(why(few.run("UnchangedTensor", {{"tensor_regex", "."}})) ==
        "no tensor has raw values at num_steps (3) steps of one mode");
}

TEST_CASE("tensors without elements are named") {
  RuleTrial some;
  some.step(0, {{"gathered", {1}}, {"sharded", {}}, {"later", {}}}).step(1, {{"sharded", {}}, {"later", {2}}});
  const RuleResult result = some.run("ExplodingTensor");
  CHECK(result.status == RuleStatus::no_issues_found);
  CHECK(result.warnings == Words{"1 of 3 tensors has no elements and was skipped: sharded"});
  RuleTrial all;
  all.step(0, {{"a", {}}, {"b", {}}});
  CHECK(why(all.run("ExplodingTensor")) == "2 of 2 tensors have no elements and were skipped: a, b");
}

TEST_CASE("Overfit and Overtraining need training and validation") {
  for (const char* const rule : {"Overfit", "Overtraining"}) {
    CAPTURE(rule);
    RuleTrial training(losses);
    training.step(0, Mode::train, 0, {{"loss", {1}}}).step(1, Mode::train, 1, {{"loss", {1}}});
    CHECK(why(training.run(rule)) ==
          "no validation loss: losses were saved at 2 steps of mode TRAIN, and at none of mode EVAL");
    RuleTrial without_mode(losses);
    without_mode.step(0, {{"loss", {1}}});
    CHECK(why(without_mode.run(rule))
              .starts_with("no validation loss: losses were saved at 1 step without a mode, and at none a loss named "
                           "train-X beside validation-X"));
    RuleTrial none(losses);
    none.step(0, {{"weight", {1}}});
    CHECK(why(none.run(rule)) == "collection 'losses' has no tensor");
  }
  RuleTrial validation(losses);
  validation.step(0, Mode::eval, 0, {{"loss", {1}}});
  CHECK(why(validation.run("Overfit")) ==
        "no training loss: losses were saved at 1 step of mode EVAL, and at none of mode TRAIN");
}

TEST_CASE("SimilarAcrossRuns warns of selected tensors of one trial only, and names three") {
  RuleTrial base;
  RuleTrial other;
  base.step(0, {{"a", {1}}, {"b", {1}}, {"x1", {1}}, {"x2", {1}}, {"x3", {1}}, {"x4", {1}}});
  other.step(0, {{"a", {1}}, {"b", {1}}, {"y", {1}}});
  const std::string path = other.builder().root();
  const RuleResult all = base.run("SimilarAcrossRuns", {}, other);
  CHECK(all.status == RuleStatus::no_issues_found);
  CHECK(all.warnings == Words{"4 selected tensors are only in this trial: x1, x2, x3 and 1 more",
                              "1 selected tensor is only in " + path + ": y"});
  CHECK(base.run("SimilarAcrossRuns", {{"tensor_regex", "a,b"}}, other).warnings.empty());
  // Also where it triggers at once and stops.
  RuleTrial third;
  third.step(0, {{"a", {2}}});
  const RuleResult found = base.run("SimilarAcrossRuns", {{"tensor_regex", "a,b"}}, third);
  CHECK(found.status == RuleStatus::issues_found);
  CHECK(found.warnings == Words{"1 selected tensor is only in this trial: b"});
}

TEST_CASE("SimilarAcrossRuns without anything in common") {
  RuleTrial base;
  RuleTrial other;
  base.step(0, {{"relu1_output_0", {1}}, {"a", {1}}});
  other.step(0, {{"relu2", {1}}, {"a", {1}}}).step(1, {{"b", {1}}});
  const std::string path = other.builder().root();
  CHECK(why(base.run("SimilarAcrossRuns", {{"tensor_regex", "relu"}}, other)) ==
        "the trials have no selected tensor in common: 1 selected tensor is only in this trial: relu1_output_0; 1 "
        "selected tensor is only in " +
            path + ": relu2");
  CHECK(why(base.run("SimilarAcrossRuns", {{"tensor_regex", "relu1_output"}}, other)) ==
        "the trials have no selected tensor in common: 1 selected tensor is only in this trial: relu1_output_0");
  CHECK(why(base.run("SimilarAcrossRuns", {{"tensor_regex", "relu_output"}}, other)) ==
        "no tensor matches pattern 'relu_output'; did you mean tensor_regex=relu1_output_0?");
  RuleTrial later;
  later.step(7, {{"a", {1}}});
  CHECK(why(base.run("SimilarAcrossRuns", {{"tensor_regex", "a"}}, later))
            .starts_with("the trials have no step in common that both saved in the same mode; "));
}

}  // namespace
}  // namespace smd::test
