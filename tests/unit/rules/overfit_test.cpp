// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

const std::string overfit = "Overfit";
const std::map<std::string, std::vector<std::string>> losses = {{"losses", {"loss$", "logloss"}}};

/// Successive steps: T trains, V validates, P predicts; each with a loss.
struct Job : RuleTrial {
  explicit Job(const std::vector<std::pair<char, float>>& steps) : RuleTrial(losses) {
    std::map<Mode, std::int64_t> mode_steps;
    std::int64_t at = 0;
    for (const auto& [kind, loss] : steps) {
      const Mode mode = kind == 'T' ? Mode::train : kind == 'V' ? Mode::eval : Mode::predict;
      step(at++, mode, mode_steps[mode]++, {{"loss", {loss}}});
    }
  }
};

TEST_CASE("a ratio on the threshold does not trigger") {
  // phase 1: (2 + 4) / 2 = 3 of training 4, mean of validation 5: (5 - 4) / 4 = 0.25; phase 2: (6 - 4) / 4 = 0.5
  const Job trial({{'T', 2}, {'T', 6}, {'V', 4}, {'V', 6}, {'T', 4}, {'V', 6}, {'T', 1}});
  const RuleResult result = trial.run(overfit, {{"ratio_threshold", "0.25"}});
  REQUIRE(found(result) == Texts{"6 loss - ratio 0.5"});
  CHECK(result.findings[0].mode == Mode::train);
  CHECK(result.findings[0].message == "loss: ratio 0.5 > threshold 0.25");
  CHECK(result.steps_evaluated == 2);
  CHECK(triggered_at(trial.run(overfit, {{"ratio_threshold", "0.24"}})) == Steps{4, 6});
}

TEST_CASE("NaN is neither above nor below a training loss of 0") {
  CHECK(Job({{'T', 0}, {'V', nan}, {'T', 0}}).run(overfit).findings.empty());
  CHECK(Job({{'T', 0}, {'V', -nan}, {'T', 0}}).run(overfit).findings.empty());
  CHECK(triggered_at(Job({{'T', 0}, {'V', 1}, {'T', 0}}).run(overfit)) == Steps{2});
}

TEST_CASE("patience counts phases in succession") {
  // ratios 1, 1, 0, 1, 1, 1
  const Job trial({{'T', 1},
                   {'V', 2},
                   {'T', 1},
                   {'V', 2},
                   {'T', 1},
                   {'V', 1},
                   {'T', 1},
                   {'V', 2},
                   {'T', 1},
                   {'V', 2},
                   {'T', 1},
                   {'V', 2},
                   {'T', 1}});
  CHECK(triggered_at(trial.run(overfit, {{"patience", "3"}})) == Steps{12});
  CHECK(triggered_at(trial.run(overfit, {{"patience", "2"}})) == Steps{4, 10, 12});
  CHECK(trial.run(overfit, {{"patience", "4"}}).findings.empty());
  CHECK(trial.run(overfit, {{"patience", "4"}}).steps_evaluated == 6);
}

TEST_CASE("the counter is the tensor's, whether its steps have modes or not") {
  RuleTrial trial({{"losses", {"-x$"}}});
  trial.step(0, {{"train-x", {1}}, {"validation-x", {2}}});  // (2 - 1) / 1
  trial.step(1, Mode::train, 0, {{"validation-x", {1}}});
  trial.step(2, Mode::eval, 0, {{"validation-x", {2}}});
  trial.step(3, Mode::train, 1, {{"validation-x", {1}}});  // (2 - 1) / 1 again
  CHECK(triggered_at(trial.run(overfit, {{"patience", "2"}})) == Steps{3});
}

TEST_CASE("the end of the job closes the last phase, the end of what there is of a running one does not") {
  const std::vector<std::pair<char, float>> steps = {{'T', 1}, {'V', 2}, {'V', 2}, {'P', 9}};
  const Job over(steps);
  const RuleResult result = over.run(overfit);
  REQUIRE(triggered_at(result) == Steps{2});  // the last step of validation
  CHECK(result.findings[0].mode == Mode::eval);
  CHECK(result.findings[0].mode_step == ModeStep(1));
  CHECK(result.steps_evaluated == 1);

  Job running(steps);
  running.running();
  CHECK(running.run(overfit).status == RuleStatus::not_evaluated);
}

TEST_CASE("without training losses since the phase before nothing is evaluated") {
  const Job trial({{'V', 9}, {'T', 1}, {'V', 1}, {'V', 1}});
  CHECK(trial.run(overfit).findings.empty());
  CHECK(trial.run(overfit).steps_evaluated == 1);
}

TEST_CASE("prediction does not close a phase, and its losses count for nothing") {
  // one phase of 2 and 4: (3 - 1) / 1
  const Job trial({{'T', 1}, {'V', 2}, {'P', 100}, {'V', 4}, {'T', 1}});
  const RuleResult result = trial.run(overfit);
  CHECK(found(result) == Texts{"4 loss - ratio 2"});
}

TEST_CASE("a training loss of 0, and NaN") {
  const float up = 1;
  const Job above({{'T', 0}, {'V', up}, {'T', 0}, {'V', 0}, {'T', 0}, {'V', -up}});  // inf, 0, -inf
  const RuleResult result = above.run(overfit, {{"ratio_threshold", "-1"}});
  CHECK(found(result) == Texts{"2 loss - ratio inf", "4 loss - ratio 0"});
  CHECK(result.steps_evaluated == 3);

  const Job not_numbers({{'T', 1}, {'V', 2}, {'T', 1}, {'V', nan}, {'T', 1}, {'V', 2}, {'T', 1}});
  CHECK(not_numbers.run(overfit, {{"patience", "2"}}).findings.empty());  // NaN is not above, so counting starts over
  CHECK(not_numbers.run(overfit).steps_evaluated == 3);
}

TEST_CASE("ratios that are NaN are counted, and if all are, nothing was evaluated") {
  const RuleResult some = Job({{'T', 1}, {'V', nan}, {'T', 1}, {'V', 1}, {'T', 1}, {'V', 1}}).run(overfit);
  CHECK(some.status == RuleStatus::no_issues_found);
  CHECK(some.steps_evaluated == 3);
  CHECK(some.warnings == Texts{"loss: 1 of 3 ratios are NaN: not compared"});
  CHECK(some.doubtful);

  // closed at steps 2 and 4, and at the end: inf - inf, -inf / inf, NaN - 1
  const RuleResult all = Job({{'T', inf}, {'V', inf}, {'T', inf}, {'V', 1}, {'T', 1}, {'V', nan}}).run(overfit);
  CHECK(all.status == RuleStatus::not_evaluated);
  CHECK(all.message == "nothing was evaluated: all that can be compared is NaN");
  CHECK(all.warnings == Texts{"loss: 3 of 3 ratios are NaN: not compared"});
  CHECK(all.steps_evaluated == 0);
  CHECK(all.steps_skipped == 6);
  CHECK_FALSE(all.first_step.has_value());
  CHECK_FALSE(all.last_step.has_value());

  RuleTrial two(losses);
  two.step(0, Mode::train, 0, {{"a_loss", {1}}, {"b_loss", {1}}});
  two.step(1, Mode::eval, 0, {{"a_loss", {nan}}, {"b_loss", {1}}});
  CHECK(two.run(overfit).status == RuleStatus::no_issues_found);
  CHECK(two.run(overfit).warnings == Texts{"a_loss: 1 of 1 ratio is NaN: not compared"});
}

TEST_CASE("a negative training loss: the share is of its magnitude") {
  const Job trial({{'T', -2}, {'V', -1}});  // (-1 + 2) / 2
  CHECK(found(trial.run(overfit)) == Texts{"1 loss - ratio 0.5"});
}

TEST_CASE("steps before start_step are ignored altogether") {
  const Job trial({{'T', 1}, {'V', 2}, {'T', 4}, {'V', 4}, {'T', 4}});
  CHECK(triggered_at(trial.run(overfit)) == Steps{2});
  // the phase that began at 1 is not there: 4 against 4 only
  CHECK(trial.run(overfit, {{"start_step", "2"}}).findings.empty());
  CHECK(trial.run(overfit, {{"start_step", "2"}}).steps_evaluated == 1);
  CHECK(trial.run(overfit, {{"start_step", "3"}}).status == RuleStatus::not_evaluated);
  CHECK(trial.run(overfit, {{"start_step", "5"}}).message == "nothing was evaluated: no step of the trial is in range");
}

TEST_CASE("a phase closes at a training step that did not save the tensor; each tensor has its own training") {
  RuleTrial trial(losses);
  trial.step(0, Mode::train, 0, {{"a_loss", {1}}, {"b_loss", {1}}});
  trial.step(1, Mode::eval, 0, {{"a_loss", {2}}});
  trial.step(2, Mode::train, 1, {{"b_loss", {3}}});
  trial.step(3, Mode::eval, 1, {{"a_loss", {2}}, {"b_loss", {4}}});
  trial.step(4, Mode::train, 2, {{"other", {0}}});
  const RuleResult result = trial.run(overfit);
  // a: (2 - 1) / 1 at 2; then it has no training. b: no phase at 2, so training is (1 + 3) / 2 and the ratio 1.
  CHECK(found(result) == Texts{"2 a_loss - ratio 1", "4 b_loss - ratio 1"});
}

TEST_CASE("the loss of a step is the mean over workers, of integers too") {
  RuleTrial trial(losses, 2);
  for (std::int64_t at = 0; at < 2; ++at) {
    for (const char* const worker : {"worker_0", "worker_1"}) {
      const bool second = worker == std::string("worker_1");
      const std::int32_t loss = at == 0 ? (second ? 3 : 1) : (second ? 6 : 2);
      trial.step({.step = at,
                  .worker = worker,
                  .mode = at == 0 ? Mode::train : Mode::eval,
                  .values = {value_of<std::int32_t>("loss", Dtype::int32, {loss})}});
    }
  }
  CHECK(found(trial.run(overfit)) == Texts{"1 loss - ratio 1"});  // (4 - 2) / 2
}

TEST_CASE("XGBoost's pairs: validation before the other names, each metric by itself") {
  RuleTrial trial(losses);
  trial.step(0, {{"train-logloss", {1}}, {"test-logloss", {8}}, {"validation-logloss", {3}}});
  trial.step(1, {{"train-logloss", {1}}, {"test-logloss", {8}}, {"val-logloss", {5}}});
  trial.step(2, {{"train-logloss", {1}}, {"test-logloss", {}}});
  trial.step(3, {{"train-logloss", {1}}, {"dev-mlogloss", {9}}});
  const RuleResult result = trial.run(overfit);
  CHECK(found(result) == Texts{"0 validation-logloss - ratio 2", "1 val-logloss - ratio 4"});
  CHECK(result.steps_evaluated == 2);
}

TEST_CASE("saved means of the collection are enough; with patterns, one element is needed") {
  RuleTrial trial(losses);
  trial.step(0, Mode::train, 0, {{saved("mean", "loss"), {1}}, {"other", {1}}, {"many", {1, 1}}});
  trial.step(1, Mode::eval, 0, {{saved("mean", "loss"), {2}}, {"other", {3}}, {"many", {4, 4}}});
  CHECK(found(trial.run(overfit)) == Texts{"1 loss - ratio 1"});
  CHECK(found(trial.run(overfit, {{"tensor_regex", "loss, other, many"}})) == Texts{"1 other - ratio 2"});
}

TEST_CASE("offered step by step, as beside a running job, the results are the same") {
  const Job trial({{'T', 1}, {'V', 2}, {'V', 4}, {'T', 2}, {'V', 3}});  // (3 - 1) / 1; at the end (3 - 2) / 2
  const Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true});
  evaluator.add(make_rule(overfit, {}));
  for (std::int64_t at = 0; at < 5; ++at) {
    evaluator.offer(GlobalStep(at));
  }
  evaluator.finish();
  CHECK(found(evaluator.results().front()) == Texts{"3 loss - ratio 2", "4 loss - ratio 0.5"});
}

TEST_CASE("parameters of Overfit") {
  CHECK(refused(overfit, {{"patience", "0"}}) == "bad_value patience");
  CHECK(refused(overfit, {{"start_step", "-1"}}) == "bad_value start_step");
  CHECK(refused(overfit, {{"ratio_threshold", "x"}}) == "bad_value ratio_threshold");
  CHECK(refused(overfit, {{"ratio_threshold", "-inf"}, {"tensor_regex", ""}}).empty());
}

}  // namespace
}  // namespace smd::test
