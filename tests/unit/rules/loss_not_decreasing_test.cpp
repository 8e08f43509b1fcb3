// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace smd::test {
namespace {

const std::string loss_not_decreasing = "LossNotDecreasing";
const std::map<std::string, std::vector<std::string>> losses = {{"losses", {"loss$"}}};

/// One tensor, step by step.
struct Row : RuleTrial {
  explicit Row(const std::vector<float>& values) : RuleTrial(losses) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      step(static_cast<std::int64_t>(i), {{"loss", {values[i]}}});
    }
  }
};

TEST_CASE("a fall of exactly diff_percent and a rise of exactly the threshold pass") {
  // 100 * (8 - 6) / 8 = 25; 100 * (7.5 - 6) / 6 = 25
  const Row trial({8, 6, 7.5F});
  const ParameterTexts exact = {{"num_steps", "1"}, {"diff_percent", "25"}, {"increase_threshold_percent", "25"}};
  CHECK(trial.run(loss_not_decreasing, exact).findings.empty());
  CHECK(trial.run(loss_not_decreasing, exact).steps_evaluated == 2);

  const RuleResult fall = trial.run(loss_not_decreasing, {{"num_steps", "1"}, {"diff_percent", "25.5"}});
  REQUIRE(found(fall) == Texts{"1 loss worker_0 decrease_percent 25", "2 loss worker_0 increase_percent 25"});
  CHECK(fall.findings[0].message == "loss: decrease_percent 25 < threshold 25.5");
  CHECK(fall.findings[1].threshold == 5);
}

TEST_CASE("nothing is checked one step before the distance is reached, nor soon after a check") {
  CHECK(Row({1, 1, 1}).run(loss_not_decreasing, {{"num_steps", "3"}}).status == RuleStatus::not_evaluated);
  // checks at 3, 6; not at 4 and 5
  CHECK(triggered_at(Row({1, 1, 1, 1, 1, 1, 1}).run(loss_not_decreasing, {{"num_steps", "3"}})) == Steps{3, 6});
}

TEST_CASE("NaN and infinities") {
  const ParameterTexts each = {{"num_steps", "1"}};
  // 1: new is NaN; 2: old is NaN; 3: up to infinity; 4: no change of it; 5: down from it by an infinite percentage;
  // 6: from 1 to 0 by 100 percent; 7: up from 0; 8: NaN after a number
  const RuleResult result = Row({2, nan, 1, inf, inf, 1, 0, 1, nan}).run(loss_not_decreasing, each);
  REQUIRE(triggered_at(result) == Steps{1, 3, 4, 7, 8});
  CHECK(std::isnan(result.findings[0].value));
  CHECK(result.findings[0].message == "loss: decrease_percent is NaN (threshold 0.1)");
  CHECK(std::isinf(result.findings[1].value));
  CHECK(result.findings[1].check == "increase_percent");
  CHECK(result.findings[2].value == 0);
  CHECK(result.findings[2].check == "decrease_percent");
  CHECK(std::isinf(result.findings[3].value));
  CHECK(result.steps_evaluated == 8);

  // NaN after 0 and after NaN is no less NaN
  const RuleResult zero = Row({0, nan, nan}).run(loss_not_decreasing, each);
  REQUIRE(triggered_at(zero) == Steps{1, 2});
  CHECK(std::isnan(zero.findings[0].value));
  CHECK(std::isnan(zero.findings[1].value));
}

TEST_CASE("rises in succession add up, from the least loss at which they began") {
  const ParameterTexts each = {{"num_steps", "1"}, {"increase_threshold_percent", "5"}};
  // 1: 3 % up from 100; 2: 6 % up from 100; 3: 9 % up from 100, whether 2 triggered or not; 4: a fall of 8.26 % ends
  // the rise; 5: 4 % up from 100
  const RuleResult result = Row({100, 103, 106, 109, 100, 104}).run(loss_not_decreasing, each);
  REQUIRE(found(result) == Texts{"2 loss worker_0 increase_percent 6", "3 loss worker_0 increase_percent 9"});
  CHECK(result.findings[1].details ==
        std::vector<std::pair<std::string, std::string>>{{"reference_step", "0"}, {"reference_loss", "100"}});
  CHECK(triggered_at(
            Row({100, 103, 106}).run(loss_not_decreasing, {{"num_steps", "1"}, {"increase_threshold_percent", "6"}}))
            .empty());
  // A loss that stands still, or is NaN on either side, ends a rise.
  CHECK(triggered_at(Row({100, 103, 103, 106}).run(loss_not_decreasing, each)) ==
        Steps{2});  // no change; then 2.9 % up
  CHECK(triggered_at(Row({100, 103, nan, 100, 104}).run(loss_not_decreasing, each)) == Steps{2});  // NaN; then 4 % up
  // Checks at 2 and 4 only: the losses between them do not count.
  const RuleResult apart = Row({100, 200, 104, 50, 108}).run(loss_not_decreasing, {{"num_steps", "2"}});
  // 100 to 104 is 4 %; 104 to 108 is 3.8 %, and 8 % from 100
  CHECK(found(apart) == Texts{"4 loss worker_0 increase_percent 8"});
}

TEST_CASE("a rise counts from the least of its references") {
  // Losses at 0, 2, 3, 5 and checks at least 2 apart: 2 against 0 (100 to 104); 5 against 3 (90 to 95), whose least
  // reference is 90, not 100: 5.56 % and not -5 %.
  RuleTrial trial(losses);
  trial.step(0, {{"loss", {100}}}).step(2, {{"loss", {104}}}).step(3, {{"loss", {90}}}).step(5, {{"loss", {95}}});
  const RuleResult result = trial.run(loss_not_decreasing, {{"num_steps", "2"}});
  REQUIRE(triggered_at(result) == Steps{5});
  CHECK(result.findings[0].value == doctest::Approx(100.0 * 5 / 90));
  CHECK(result.findings[0].details[0].second == "3");
}

TEST_CASE("a tensor missing or empty at some steps is compared with its newest loss before") {
  RuleTrial trial(losses);
  trial.step(0, {{"loss", {4}}});
  trial.step(1, {{"loss", {2}}});
  trial.step(2, {{"loss", {}}});
  trial.step(3, {{"other", {0}}});
  trial.step(4, {{"loss", {3}}});  // newest <= 2 with an element: 1; 100 * (3 - 2) / 2 = 50
  const RuleResult result = trial.run(loss_not_decreasing, {{"num_steps", "2"}});
  CHECK(found(result) == Texts{"4 loss worker_0 increase_percent 50"});
  CHECK(result.steps_evaluated == 1);
}

TEST_CASE("losses of before the start are looked back at, once the distance is reached") {
  const Row trial({8, 8, 4, 4, 4});
  // 3 against 1: fell by half; 4 is within 2 of the check at 3
  CHECK(trial.run(loss_not_decreasing, {{"num_steps", "2"}, {"start_step", "3"}}).steps_evaluated == 1);
  CHECK(trial.run(loss_not_decreasing, {{"num_steps", "2"}, {"start_step", "3"}}).findings.empty());
  CHECK(triggered_at(trial.run(loss_not_decreasing, {{"num_steps", "2"}, {"start_step", "4"}})) ==
        Steps{4});                                                                                         // against 2
  CHECK(triggered_at(trial.run(loss_not_decreasing, {{"num_steps", "3"}, {"start_step", "4"}})).empty());  // against 1
}

TEST_CASE("losses between the steps at which the rule is evaluated are looked back at") {
  RuleTrial trial(losses);
  trial.step(0, Mode::train, 0, {{"loss", {8}}});
  trial.step(5, Mode::predict, 0, {{"loss", {2}}});
  trial.step(15, Mode::train, 1, {{"loss", {4}}});
  // 15 against 5, the newest <= 15 - 10: 100 * (4 - 2) / 2 = 100
  const ParameterTexts one_row = {{"mode", "GLOBAL"}, {"num_steps", "10"}};
  for (const EvaluationOptions& some :
       {EvaluationOptions{.mode = Mode::train, .keep_going = true},
        EvaluationOptions{.steps = std::vector{GlobalStep(0), GlobalStep(15)}, .keep_going = true}}) {
    const RuleResult result = trial.run(loss_not_decreasing, one_row, some);
    REQUIRE(found(result) == Texts{"15 loss worker_0 increase_percent 100"});
    CHECK(result.findings[0].details[0] == std::pair<std::string, std::string>("reference_step", "5"));
  }
}

TEST_CASE("a loss that was saved without value and mean is named") {
  RuleTrial trial({{"losses", {"loss", "other"}}});
  trial.step(0, {{"loss", {1}}, {saved("min", "other"), {1}}}).step(1, {{"loss", {2}}, {saved("min", "other"), {1}}});
  CHECK(trial.run(loss_not_decreasing, {{"num_steps", "1"}}).warnings ==
        std::vector<std::string>{
            "1 of 2 tensors was skipped, for want of a value or reduction that the rule can use: other"});
}

TEST_CASE("what turns out to be no loss before the start is looked past") {
  RuleTrial trial;
  trial.step(0, {{"z", {1}}}).step(1, {{"z", {1, 2}}}).step(2, {{"z", {}}}).step(3, {{"z", {1, 2}}});
  trial.step(4, {{"z", {1.5F}}}).step(5, {{"z", {1, 2}}}).step(6, {{"z", {1.5F}}});
  for (const char* const start : {"0", "1", "2", "3", "4"}) {
    CAPTURE(start);
    const RuleResult result =
        trial.run(loss_not_decreasing, {{"tensor_regex", "z"}, {"num_steps", "1"}, {"start_step", start}});
    // 1.5 after 1, then no change
    CHECK(found(result) == Texts{"4 z worker_0 increase_percent 50", "6 z worker_0 decrease_percent 0"});
    CHECK(result.warnings.empty());
  }
  RuleTrial collected(losses);
  collected.step(0, {{saved("mean", "loss"), {2}}}).step(1, {{"loss", {}}}).step(2, {{"loss", {}}});
  collected.step(3, {{"loss", {2, 4}}});
  const RuleResult result = collected.run(loss_not_decreasing, {{"num_steps", "1"}, {"start_step", "3"}});
  CHECK(found(result) == Texts{"3 loss worker_0 increase_percent 50"});  // the mean of 2 and 4 after 2
}

TEST_CASE("of a collection the mean of many elements counts, by a pattern only one element does") {
  RuleTrial trial(losses);
  trial.step(0, {{"loss", {1, 3}}, {"error", {1, 1}}, {"error1", {1}}});
  trial.step(1, {{"loss", {2, 2}}, {"error", {1, 1}}, {"error1", {1}}});
  const RuleResult both = trial.run(loss_not_decreasing, {{"num_steps", "1"}, {"tensor_regex", "error"}});
  CHECK(found(both) == Texts{"1 error1 worker_0 decrease_percent 0", "1 loss worker_0 decrease_percent 0"});

  const RuleResult patterns = trial.run(
      loss_not_decreasing, {{"num_steps", "1"}, {"tensor_regex", "error,loss"}, {"use_losses_collection", "False"}});
  CHECK(found(patterns) == Texts{"1 error1 worker_0 decrease_percent 0"});
}

TEST_CASE("without a losses collection every tensor of one element is looked at") {
  const std::map<std::string, std::vector<std::string>> empty = {{"losses", {}}};
  RuleTrial trial(empty);  // neither name nor pattern: not known
  const std::vector<float> large(5000, 1);
  trial.step(0, {{"any", {1}}, {"weight", large}, {"pair", {1, 1}}});
  trial.step(1, {{"any", {1}}, {"weight", large}, {"pair", {1, 1}}});
  const RuleResult result = trial.run(loss_not_decreasing, {{"num_steps", "1"}});
  CHECK(found(result) == Texts{"1 any worker_0 decrease_percent 0"});
  CHECK(result.tensors_matched == 2);  // 20000 bytes are no single number, and not read
}

TEST_CASE("a known losses collection that has nothing saved leaves nothing to evaluate") {
  RuleTrial trial(losses);
  trial.step(0, {{"any", {1}}}).step(1, {{"any", {1}}});
  CHECK(trial.run(loss_not_decreasing, {{"num_steps", "1"}}).status == RuleStatus::not_evaluated);
}

TEST_CASE("saved means of a collection are enough; a pattern needs the value") {
  RuleTrial trial(losses);
  trial.step(0, {{saved("mean", "loss"), {2}}}).step(1, {{saved("mean", "loss"), {2}}});
  CHECK(triggered_at(trial.run(loss_not_decreasing, {{"num_steps", "1"}})) == Steps{1});
  CHECK(trial.run(loss_not_decreasing, {{"num_steps", "1"}, {"tensor_regex", "loss"}, {"use_losses_collection", "0"}})
            .status == RuleStatus::not_evaluated);
}

TEST_CASE("each mode by itself, one mode, or all in one row") {
  RuleTrial trial(losses);
  trial.step(0, Mode::train, 0, {{"loss", {1}}});
  trial.step(1, Mode::eval, 0, {{"loss", {2}}});
  trial.step(2, Mode::train, 1, {{"loss", {0.5F}}});
  trial.step(3, Mode::eval, 1, {{"loss", {2}}});
  CHECK(triggered_at(trial.run(loss_not_decreasing, {{"num_steps", "1"}})) == Steps{3});
  CHECK(triggered_at(trial.run(loss_not_decreasing, {{"num_steps", "1"}, {"mode", "train"}})).empty());
  CHECK(trial.run(loss_not_decreasing, {{"num_steps", "1"}, {"mode", "TRAIN"}}).steps_evaluated == 1);
  CHECK(triggered_at(trial.run(loss_not_decreasing, {{"num_steps", "1"}, {"mode", "Eval"}})) == Steps{3});
  // 2 after 1, 0.5 after 2, 2 after 0.5
  const RuleResult row = trial.run(loss_not_decreasing, {{"num_steps", "1"}, {"mode", "GLOBAL"}});
  CHECK(found(row) == Texts{"1 loss worker_0 increase_percent 100", "3 loss worker_0 increase_percent 300"});
}

TEST_CASE("after a restart whose mode steps begin again, its losses are held against each other") {
  RuleTrial trial(losses);
  std::int64_t at = 0;
  for (const float loss : {8.F, 4.F, 2.F, 1.F}) {
    trial.step(at, Mode::train, at, {{"loss", {loss}}});
    ++at;
  }
  for (std::int64_t mode_step = 1; const float loss : {9.F, 10.F, 9.F, 9.F}) {
    trial.step(at++, Mode::train, mode_step++, {{"loss", {loss}}});
  }
  const RuleResult each = trial.run(loss_not_decreasing, {{"num_steps", "1"}});
  // 10 after 9, not 9 after 8; then a fall; then none
  REQUIRE(triggered_at(each) == Steps{5, 7});
  CHECK(each.findings[0].details.front() == std::pair<std::string, std::string>("reference_step", "4"));
  CHECK(each.steps_evaluated == 6);
  CHECK(triggered_at(trial.run(loss_not_decreasing, {{"num_steps", "1"}, {"start_step", "5"}})) == Steps{5, 7});
  CHECK(triggered_at(trial.run(loss_not_decreasing, {{"num_steps", "2"}})) == Steps{6});
  // Of the new run only steps beyond those of the old one: 9 at 7 after 9 at 6, not after 4 at 1.
  const EvaluationOptions some{.steps = std::vector{GlobalStep(0), GlobalStep(1), GlobalStep(7)}, .keep_going = true};
  const RuleResult gap = trial.run(loss_not_decreasing, {{"num_steps", "1"}}, some);
  REQUIRE(triggered_at(gap) == Steps{7});
  CHECK(gap.findings[0].details.front().second == "6");
}

TEST_CASE("following: losses are not compared across a restart, though those before it came at an earlier look") {
  RuleTrial trial(losses);
  trial.running();
  trial.step(0, Mode::train, 0, {{"loss", {1}}}).step(1, Mode::train, 1, {{"aux", {1}}});
  Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true, .follow = true});
  evaluator.add(make_rule(loss_not_decreasing));
  evaluator.offer();
  const auto add = [&](std::int64_t step, std::int64_t mode_step, const RuleTrial::Tensors& tensors) {
    trial.step(step, Mode::train, mode_step, tensors);
    opened.refresh();
    evaluator.offer();
  };
  add(2, 0, {{"aux", {1}}});
  add(3, 10, {{"loss", {9}}});
  add(4, 20, {{"loss", {9}}});  // 9 after 9, not after 1
  CHECK(found(evaluator.results().front()) == Texts{"4 loss worker_0 decrease_percent 0"});
}

TEST_CASE("a restart counts also at steps at which the loss was not saved, and for its own worker only") {
  for (const std::int64_t first : {0, 19}) {
    RuleTrial trial(losses);
    trial.step(0, Mode::train, first, {{"loss", {1}}}).step(1, Mode::train, first + 1, {{"aux", {1}}});
    trial.step(2, Mode::train, 0, {{"aux", {1}}}).step(3, Mode::train, 10, {{"loss", {9}}});
    CHECK(trial.run(loss_not_decreasing).status == RuleStatus::not_evaluated);
    trial.step(4, Mode::train, 20, {{"loss", {9}}});  // 9 after 9, not after 1
    CHECK(found(trial.run(loss_not_decreasing)) == Texts{"4 loss worker_0 decrease_percent 0"});
  }
  const auto step = [](RuleTrial& trial, std::int64_t at, const char* worker, std::int64_t mode_step,
                       const RuleTrial::Tensors& saved) {
    trial.step({.step = at, .worker = worker, .mode = Mode::train, .mode_step = mode_step, .tensors = saved});
  };
  RuleTrial two(losses, 2);
  step(two, 0, "worker_0", 0, {{"loss", {1}}});
  step(two, 1, "worker_1", 1, {{"aux", {1}}});
  step(two, 2, "worker_1", 0, {{"aux", {1}}});
  step(two, 3, "worker_0", 10, {{"loss", {9}}});
  CHECK(found(two.run(loss_not_decreasing)) == Texts{"3 loss worker_0 increase_percent 800"});
  // The first worker restarts at step 2 and the second one at step 3: 9 is compared with 9.
  RuleTrial late(losses, 2);
  step(late, 0, "worker_0", 5, {{"loss", {1}}});
  step(late, 1, "worker_1", 6, {{"aux", {1}}});
  step(late, 2, "worker_0", 0, {{"loss", {9}}});
  step(late, 3, "worker_1", 1, {{"aux", {1}}});
  step(late, 4, "worker_0", 10, {{"loss", {9}}});
  CHECK(found(late.run(loss_not_decreasing)) == Texts{"4 loss worker_0 decrease_percent 0"});
  // The second worker restarts at step 8: the loss of the first one stands all the same.
  RuleTrial stuck(losses, 2);
  for (std::int64_t at = 0; at < 16; ++at) {
    step(stuck, at, "worker_0", at, {{"loss", {1}}});
    step(stuck, at, "worker_1", at % 8, {{"loss", {static_cast<float>(16 - at)}}});
  }
  CHECK(found(stuck.run(loss_not_decreasing)) == Texts{"10 loss worker_0 decrease_percent 0"});
  // Only EVAL steps begin again: 9 after 1 at TRAIN steps.
  RuleTrial eval(losses);
  eval.step(0, Mode::train, 0, {{"loss", {1}}}).step(1, Mode::eval, 5, {{"aux", {1}}});
  eval.step(2, Mode::eval, 0, {{"aux", {1}}}).step(3, Mode::train, 10, {{"loss", {9}}});
  CHECK(found(eval.run(loss_not_decreasing)) == Texts{"3 loss worker_0 increase_percent 800"});
}

/// 56 losses that fall from 100 by 1, but for the newest. Checks are at 10, 20, … and 50, and each passes.
void add_losses(RuleTrial& trial, const std::vector<float>& newest, Mode mode, const char* worker = "worker_0") {
  for (std::int64_t i = 0; i < 56; ++i) {
    const std::int64_t of_newest = i + static_cast<std::int64_t>(newest.size()) - 56;
    const float loss = of_newest < 0 ? static_cast<float>(100 - i) : newest[static_cast<std::size_t>(of_newest)];
    const std::int64_t step = mode == Mode::eval ? 100 + i : i;
    trial.step({.step = step, .worker = worker, .mode = mode, .mode_step = i, .tensors = {{"loss", {loss}}}});
  }
}

TEST_CASE("newest losses after the last check that explode or are no numbers are a warning") {
  const auto warnings = [](const std::vector<float>& newest) {
    RuleTrial trial(losses);
    add_losses(trial, newest, Mode::train);
    const RuleResult result = trial.run(loss_not_decreasing);
    CHECK(result.status == RuleStatus::no_issues_found);
    CHECK(result.steps_evaluated == 5);
    CHECK(result.doubtful == !result.warnings.empty());
    return result.warnings;
  };
  CHECK(warnings({}).empty());
  // Of the newest half, 28 to 41 are 72 to 59, with median 65.5, which lies 6.5 below 72: far is 72 + 3 * 6.5 = 91.5.
  CHECK(warnings({500, 600, 700}) == Texts{"loss: of the 5 values from step 51 on, most are far above those before"});
  CHECK(warnings({92, 92, 92}).size() == 1);
  CHECK(warnings({91, 91, 91}).empty());
  CHECK(warnings({1e9F, 1e9F}).empty());  // spikes
  CHECK(warnings({nan, 45}) == Texts{"loss is nan at step 54, and no check looked at it"});
  CHECK(warnings({inf}) == Texts{"loss is inf at step 55, and no check looked at it"});
}

TEST_CASE("newest losses that are all one number are a warning where steps have modes too") {
  // Checks are at 10, 20, … and 50, and each passes: the last one compares steps 50 and 40.
  const auto warnings = [](std::int64_t frozen_from) {
    RuleTrial trial(losses);
    for (std::int64_t i = 0; i < 56; ++i) {
      trial.step(i, Mode::train, i, {{"loss", {100 - static_cast<float>(i) / 3}}});
    }
    for (std::int64_t i = 0; i < 56; ++i) {
      const float loss = i < frozen_from ? 100 - static_cast<float>(i) / 3 : 70.34375F;
      trial.step(56 + i, Mode::eval, i, {{"loss", {loss}}});
    }
    const RuleResult result = trial.run(loss_not_decreasing);
    CHECK(result.status == RuleStatus::no_issues_found);
    CHECK(result.doubtful == !result.warnings.empty());
    return result.warnings;
  };
  CHECK(warnings(46) ==
        Texts{"loss is exactly 70.34375 from step 102 on; has training stopped, or is the loss clipped?"});
  CHECK(warnings(47).empty());
}

TEST_CASE("newest losses at a floor, and a running best, may be all one number") {
  // Each loss falls from 100 to 1.3e-4 at step 45, then is one number. A millionth of 100 is 1e-4.
  const auto warnings = [](const char* name, float last) {
    RuleTrial trial({{"losses", {"loss$"}}});
    for (std::int64_t i = 0; i < 56; ++i) {
      trial.step(i, Mode::train, i, {{name, {i < 46 ? 100 * std::pow(0.74F, static_cast<float>(i)) : last}}});
    }
    return trial.run(loss_not_decreasing).warnings.size();
  };
  CHECK(warnings("loss", 1.01234e-4F) == 1);
  CHECK(warnings("loss", 9.81234e-5F) == 0);
  CHECK(warnings("best_loss", 1.01234e-4F) == 0);
}

TEST_CASE("newest losses of each mode and worker are looked at by themselves, and once the job has ended") {
  RuleTrial modes(losses);
  add_losses(modes, {}, Mode::train);
  add_losses(modes, {500, 600, 700}, Mode::eval);
  CHECK(modes.run(loss_not_decreasing).warnings ==
        Texts{"loss: of the 5 values from step 151 on, most are far above those before"});
  CHECK(modes.run(loss_not_decreasing, {{"mode", "TRAIN"}}).warnings.empty());
  RuleTrial workers(losses, 2);
  add_losses(workers, {}, Mode::train);
  add_losses(workers, {nan}, Mode::train, "worker_1");
  CHECK(workers.run(loss_not_decreasing).warnings ==
        Texts{"worker_1: loss is nan at step 55, and no check looked at it"});
  RuleTrial running(losses);
  add_losses(running.running(), {500, 600, 700}, Mode::train);
  CHECK(running.run(loss_not_decreasing).warnings.empty());
  // After a restart at which mode steps begin again, losses before it do not count.
  RuleTrial restarted(losses);
  add_losses(restarted, {}, Mode::train);
  for (std::int64_t i = 0; i < 5; ++i) {
    restarted.step(56 + i, Mode::train, i, {{"loss", {500}}});
  }
  CHECK(restarted.run(loss_not_decreasing).warnings.empty());
}

TEST_CASE("each worker by itself; integers are losses too") {
  RuleTrial trial(losses, 2);
  for (std::int64_t at = 0; at < 2; ++at) {
    for (const char* const worker : {"worker_0", "worker_1"}) {
      const std::int64_t stuck = worker == std::string("worker_1") ? 4 : 4 - at;
      trial.step({.step = at,
                  .worker = worker,
                  .mode_step = at,
                  .values = {value_of<std::int64_t>("loss", Dtype::int64, {stuck})}});
    }
  }
  const RuleResult result = trial.run(loss_not_decreasing, {{"num_steps", "1"}});
  CHECK(found(result) == Texts{"1 loss worker_1 decrease_percent 0"});
}

TEST_CASE("each loss is read once, also one that was looked back at") {
  const Row trial(std::vector<float>(200, 1));
  const Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true});
  evaluator.add(make_rule(loss_not_decreasing, {}));
  evaluator.run();
  CHECK(evaluator.results().front().findings.size() == 19);  // at 10, 20, …, 190
  CHECK(evaluator.counters().records == 200);
}

TEST_CASE("offered step by step, as beside a running job, the results are the same") {
  const Row trial({8, nan, 4, 4, 4, 5, 2, 2, 2});
  const ParameterTexts two = {{"num_steps", "2"}, {"start_step", "1"}};
  const RuleResult whole = trial.run(loss_not_decreasing, two);
  const Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true});
  evaluator.add(make_rule(loss_not_decreasing, two));
  for (std::int64_t at = 0; at < 9; ++at) {
    evaluator.offer(GlobalStep(at));
  }
  evaluator.finish();
  // checks at 2 (against 0), 4, 6 and 8: half, no change, half, no change
  CHECK(triggered_at(whole) == Steps{4, 8});
  CHECK(triggered_at(evaluator.results().front()) == triggered_at(whole));
  CHECK(evaluator.counters().records == 9);
}

TEST_CASE("parameters of LossNotDecreasing") {
  CHECK(refused(loss_not_decreasing, {{"use_losses_collection", "false"}}) == "missing_parameter collection_names");
  CHECK(refused(loss_not_decreasing, {{"use_losses_collection", "false"}, {"tensor_regex", "a"}}).empty());
  CHECK(refused(loss_not_decreasing, {{"diff_percent", "0"}}) == "bad_value diff_percent");
  CHECK(refused(loss_not_decreasing, {{"increase_threshold_percent", "100"}}) ==
        "bad_value increase_threshold_percent");
  CHECK(refused(loss_not_decreasing, {{"num_steps", "0"}}) == "bad_value num_steps");
  CHECK(refused(loss_not_decreasing, {{"mode", "PREDICT"}}) == "bad_value mode");
  CHECK(refused(loss_not_decreasing, {{"mode", "None"}, {"tensor_regex", "("}}) == "bad_value tensor_regex");
}

}  // namespace
}  // namespace smd::test
