// SPDX-License-Identifier: Apache-2.0
// Rules as the reference's documentation writes them.
#include "custom_rules.hpp"  // of the examples
#include "rule_support.hpp"
#include "support/caught_log.hpp"

#include <smd/custom_rule.hpp>
#include <smd/error.hpp>
#include <smd/trial.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <memory>

namespace smd::test {
namespace {

using custom_rules::CustomGradientRule;
using custom_rules::LossAboveOtherRule;
using custom_rules::VanishingGradientRule;

const RuleTrial::Collections collections = {{"gradients", {"^gradient"}}, {"losses", {"^loss"}}};

/// Does what the test sets.
class Told final : public CustomRule {
 public:
  using Call = std::function<bool(Told&, GlobalStep)>;
  Told(const Trial& trial, Call call, std::vector<const Trial*> others = {})
      : CustomRule(trial, {}, std::move(others)), call_(std::move(call)) {}

  std::function<void(Told&, GlobalStep)> needs = {};

  void set_required_tensors(GlobalStep step) override {
    if (needs) {
      needs(*this, step);
    }
  }
  bool invoke_at_step(GlobalStep step) override { return call_(*this, step); }

 private:
  Call call_;
};

RuleResult evaluate(const Trial& trial, Rule& rule) {
  Evaluator evaluator(trial, {.keep_going = true});
  evaluator.add(rule);
  evaluator.run();
  return evaluator.results().front();
}

/// Gradients at steps 0, 1 and 3; step 2 has none.
RuleTrial& fill(RuleTrial& trial) {
  return trial.step(0, {{"gradient/a", {1e-9F}}, {"loss", {1}}})
      .step(1, {{"gradient/a", {1}}, {"loss", {1}}})
      .step(2, {{"loss", {1}}})
      .step(3, {{"gradient/a", {-4}}, {"loss", {1}}});
}

struct Filled {
  const CaughtLog quiet;
  RuleTrial trial{collections};
  const Trial opened = fill(trial).open();
};

TEST_CASE_FIXTURE(Filled, "the documentation's rules: a step without gradients is skipped, counted, and they go on") {
  VanishingGradientRule vanishing(opened);
  const RuleResult result = invoke_rule(vanishing);
  CHECK(triggered_at(result) == Steps{0});
  CHECK(result.status == RuleStatus::issues_found);
  CHECK(result.steps_evaluated == 3);
  CHECK(result.steps_skipped == 1);
  CHECK(result.rule == "VanishingGradientRule");
  CHECK(result.name == "VanishingGradientRule");
  CHECK(result.message == "the condition is met");

  CustomGradientRule gradient(opened, "0.001", "3");
  const RuleResult second = invoke_rule(gradient);
  CHECK(triggered_at(second) == Steps{0, 3});  // 1e-9 < 1e-3; |-4| > 3
  CHECK(second.steps_skipped == 1);
  CustomGradientRule calm(opened);
  CHECK(invoke_rule(calm).status == RuleStatus::no_issues_found);
  CHECK(second.action.empty());
}

TEST_CASE("a rule over two trials") {
  const CaughtLog quiet;
  RuleTrial trial(collections);
  RuleTrial other;
  trial.step(0, {{"loss", {1}}}).step(1, {{"loss", {1}}}).step(2, {{"loss", {1}}});
  other.step(0, {{"loss", {1}}}).step(2, {{"loss", {0.25F}}});  // 1 > 2 x 0.25
  const Trial opened = trial.open();
  const Trial opened_other = other.open();
  LossAboveOtherRule rule(opened, opened_other);
  const RuleResult result = evaluate(opened, rule);
  CHECK(triggered_at(result) == Steps{2});
  CHECK(result.action.starts_with(R"({"name": "stoptraining")"));
  CHECK(result.steps_evaluated == 2);
  CHECK(result.steps_skipped == 1);  // the other run skipped step 1
}

TEST_CASE("the other trial ends first: NoMoreData, which ends the rule of an evaluation") {
  const CaughtLog quiet;
  RuleTrial trial(collections);
  RuleTrial other;
  trial.step(0, {{"loss", {1}}}).step(1, {{"loss", {1}}}).step(2, {{"loss", {1}}});
  other.step(0, {{"loss", {0.25F}}});
  const Trial opened = trial.open();
  const Trial opened_other = other.open();
  LossAboveOtherRule rule(opened, opened_other);
  const RuleResult result = evaluate(opened, rule);
  CHECK(triggered_at(result) == Steps{0});
  CHECK(result.status == RuleStatus::issues_found);
  CHECK(result.warnings == Texts{"step 1 will not come: the job has ended before it"});
  try {
    static_cast<void>(invoke_rule(rule));
    FAIL("the other trial has no step 1");
  } catch (const NoMoreData& end) {
    CHECK(end.step == StepKey(GlobalStep(1)));
  }
}

TEST_CASE_FIXTURE(Filled, "tensors, workers and steps that are not there skip the step, whatever asks for them") {
  const auto skipped = [&](const Told::Call& call) {
    Told rule(opened, call);
    const RuleResult result = invoke_rule(rule);
    return std::pair(result.steps_evaluated, result.steps_skipped);
  };
  using Counts = std::pair<std::size_t, std::size_t>;
  CHECK(skipped([](Told& rule, GlobalStep step) {
          static_cast<void>(rule.base_trial().tensor("typo").value(step));
          return true;
        }) == Counts{0, 4});
  CHECK(skipped([](Told& rule, GlobalStep step) {
          return rule.base_trial().tensor("gradient/a").workers(step).empty();
        }) == Counts{3, 1});
  CHECK(skipped([](Told& rule, GlobalStep step) {
          static_cast<void>(rule.base_trial().tensor("loss").value(GlobalStep(step.value + 10)));
          return true;
        }) == Counts{0, 4});  // the job has ended: no such step
  Told never(opened, [](Told& rule, GlobalStep step) {
    static_cast<void>(rule.base_trial().tensor("typo").value(step));
    return true;
  });
  CHECK(invoke_rule(never).status == RuleStatus::not_evaluated);
}

TEST_CASE_FIXTURE(Filled, "required tensors: names, patterns, steps before, and what is not there") {
  Texts names;
  std::vector<GlobalStep> steps;
  Told rule(opened, [&](Told& told, GlobalStep) {
    names = told.req_tensors().get_names();
    steps = told.req_tensors().get_tensor_steps("loss");
    CHECK(told.req_tensors().get().size() == names.size());
    CHECK(told.req_tensors().get_tensor_steps("other").empty());
    return false;
  });
  rule.needs = [](Told& told, GlobalStep step) {
    told.req_tensors().add("loss", {step});
    if (step.value > 0) {
      told.req_tensors().add("loss", {GlobalStep(step.value - 1)});
    }
    told.req_tensors().add("^grad", {step}, nullptr, true);
    told.req_tensors().add("matches nothing", {step}, nullptr, true);
  };
  const RuleResult result = invoke_rule(rule);
  CHECK(result.steps_evaluated == 3);
  CHECK(result.steps_skipped == 1);  // step 2 has no gradient
  CHECK(names == Texts{"loss", "gradient/a"});
  CHECK(steps == std::vector<GlobalStep>{GlobalStep(3), GlobalStep(2)});
  rule.needs = [](Told& told, GlobalStep step) { told.req_tensors().add("typo", {step}); };
  CHECK(invoke_rule(rule).steps_skipped == 4);
}

TEST_CASE("a tensor of which only a reduction was saved is there") {
  const CaughtLog quiet;
  RuleTrial trial(collections);
  trial.step(0, {{saved("abs_mean", "gradient/a"), {1e-9F}}});
  const Trial opened = trial.open();
  VanishingGradientRule rule(opened);
  CHECK(triggered_at(invoke_rule(rule)) == Steps{0});
}

TEST_CASE("a step that may still come is no step to skip: the caller learns of it") {
  const CaughtLog quiet;
  RuleTrial trial(collections);
  fill(trial);
  trial.running();
  const Trial opened = trial.open();
  Told rule(opened, [](Told& told, GlobalStep step) {
    return told.base_trial().tensor("loss").value(GlobalStep(step.value + 1)).item() < 0;
  });
  CHECK_FALSE(rule.invoke_at_step(GlobalStep(0)));
  try {
    static_cast<void>(rule.invoke_at_step(GlobalStep(3)));
    FAIL("step 4 is not there");
  } catch (const StepNotYetAvailable& later) {
    CHECK(later.step == StepKey(GlobalStep(4)));
  }
  CHECK_THROWS_AS(static_cast<void>(invoke_rule(rule)), StepNotYetAvailable);
  const RuleResult result = evaluate(opened, rule);
  CHECK(result.status == RuleStatus::error);
  CHECK(result.message == "the rule failed: step 4 is not there yet; the job is still running");
  CHECK(result.steps_evaluated == 3);
}

TEST_CASE_FIXTURE(Filled, "another exception reaches the caller of invoke_rule") {
  Told rule(opened, [](Told&, GlobalStep step) {
    if (step.value == 2) {
      throw std::runtime_error("no such luck");
    }
    return true;
  });
  CHECK_THROWS_WITH(static_cast<void>(invoke_rule(rule)), "no such luck");
  CHECK(quiet.lines.size() == 2);  // what was met before was logged
  CHECK(evaluate(opened, rule).message == "the rule failed: no such luck");

  Told other(opened, [](Told&, GlobalStep) -> bool { throw 5; });
  CHECK_THROWS_AS(static_cast<void>(invoke_rule(other)), int);
  CHECK(evaluate(opened, other).status == RuleStatus::error);
}

TEST_CASE("a damaged record and a missing event file are problems of the result, and cost their step") {
  const CaughtLog quiet;
  RuleTrial trial(collections);
  fill(trial);
  std::filesystem::resize_file(trial.builder().root() + "/" + events_path(0, "worker_0"), 20);
  std::filesystem::remove(trial.builder().root() + "/" + events_path(1, "worker_0"));
  const Trial opened = trial.open();
  CustomGradientRule rule(opened, "0", "1");
  const RuleResult result = invoke_rule(rule);
  CHECK(triggered_at(result) == Steps{3});
  CHECK(result.steps_skipped == 3);
  REQUIRE(result.problems.size() == 2);
  CHECK(result.problems[0].kind == ProblemKind::damaged);
  CHECK(result.problems[1].kind == ProblemKind::absent);
}

TEST_CASE("invoke: one step") {
  const CaughtLog quiet;
  RuleTrial trial(collections);
  trial.step(0, {{"gradient/a", {0}}}).step(2, {{"gradient/a", {1}}});
  const Trial opened = trial.open();
  VanishingGradientRule rule(opened);
  try {
    rule.invoke(GlobalStep(0));
    FAIL("the condition is met");
  } catch (const RuleEvaluationConditionMet& met) {
    CHECK(met.rule == "VanishingGradientRule");
    CHECK(met.step == GlobalStep(0));
  }
  CHECK_THROWS_AS(rule.invoke(GlobalStep(1)), StepUnavailable);
  rule.invoke(GlobalStep(2));
  CHECK_THROWS_AS(rule.invoke(GlobalStep(3)), NoMoreData);
}

// The reference's test_no_refresh_invocation.
TEST_CASE("invoke refreshes, also at a known step, and invoke_at_step does not") {
  const CaughtLog quiet;
  RuleTrial trial(collections);
  trial.step(0, {{"loss", {1}}}).step(1, {{"loss", {1}}});
  trial.running();
  static_cast<void>(trial.open());
  const Trial opened = Trial::open(trial.builder().root());
  bool saw = false;
  Told rule(opened, [&](Told& told, GlobalStep step) {
    saw = told.base_trial().has_passed_step(GlobalStep(step.value + 1)) == StepState::available;
    return false;
  });
  rule.invoke(GlobalStep(1));
  CHECK_FALSE(saw);
  trial.step(2, {{"loss", {1}}});
  static_cast<void>(trial.open());
  {
    const NoRefresh still(opened);
    static_cast<void>(rule.invoke_at_step(GlobalStep(1)));
    CHECK_FALSE(saw);
    rule.invoke(GlobalStep(1));
    CHECK(saw);
  }
}

TEST_CASE("while a rule is invoked its trials stand still") {
  const CaughtLog quiet;
  RuleTrial trial(collections);
  RuleTrial other(collections);
  fill(trial);
  fill(other);
  trial.running();
  other.running();
  static_cast<void>(trial.open());
  const Trial opened = Trial::open(trial.builder().root());
  const Trial opened_other = Trial::open(other.builder().root());
  Told rule(opened,
            [&](Told&, GlobalStep) {
              trial.step(9, {{"loss", {1}}});
              other.step(9, {{"loss", {1}}});
              return opened.steps().size() != 4 || opened_other.steps().size() != 4;
            },
            {&opened_other});
  rule.invoke(GlobalStep(0));
  CHECK(opened.steps().size() == 5);
  CHECK(opened_other.steps().size() == 5);
}

/// One that has its trial from the evaluation, and its threshold from a parameter.
class Registered final : public CustomRule {
 public:
  explicit Registered(double threshold) : threshold_(threshold) {}
  bool invoke_at_step(GlobalStep step) override {
    return base_trial().tensor("gradient/a").reduction_value(step, "max").item() < threshold_;
  }

 private:
  double threshold_;
};

TEST_CASE_FIXTURE(Filled, "a custom rule can be registered") {
  register_rule({.name = "SmallGradient",
                 .alias = "small_gradient",
                 .parameters = {{.name = "threshold", .type = ParameterType::number, .default_text = "0"}},
                 .create = [](const Parameters& parameters) {
                   return to_rule(std::make_unique<Registered>(parameters.number("threshold")));
                 }});
  CHECK(triggered_at(trial.run("SmallGradient", {{"threshold", "0.5"}})) == Steps{0, 3});
  const RuleResult result = trial.run("SmallGradient");
  CHECK(triggered_at(result) == Steps{3});
  CHECK(result.rule == "SmallGradient");
}

/// A rule of the other kind that asks its trial too.
class AsksTrial final : public Rule {
 public:
  explicit AsksTrial(bool planning) : planning_(planning) {}
  void set_required_tensors(StepNeeds& step) override {
    if (planning_) {
      static_cast<void>(base_trial().tensor("gradient/a").value(step.step()));
    }
  }
  void invoke_at_step(StepView& step) override {
    step.trigger(Finding{.check = "any"});
    if (!planning_) {
      static_cast<void>(base_trial().tensor("gradient/a").value(step.step()));
    }
  }

 private:
  bool planning_;
};

/// One that needs nothing said beforehand.
class NeedsNothing final : public Rule {
 public:
  void invoke_at_step(StepView& step) override { step.evaluated(); }
};

TEST_CASE_FIXTURE(Filled,
                  "any rule that meets what is not there skips that step, and what it found there does not count") {
  for (const bool planning : {true, false}) {
    CAPTURE(planning);
    AsksTrial rule(planning);
    const RuleResult result = evaluate(opened, rule);
    CHECK(triggered_at(result) == Steps{0, 1, 3});
    CHECK(result.steps_evaluated == 3);
    CHECK(result.steps_skipped == 1);
    CHECK(result.rule == "AsksTrial");
  }
  CHECK(quiet.lines == Texts(2,
                             "debug: AsksTrial skips step 2: TensorUnavailableForStep: 'gradient/a' was not saved "
                             "at step 2"));
  NeedsNothing nothing;
  CHECK(evaluate(opened, nothing).steps_evaluated == 4);
}

TEST_CASE_FIXTURE(Filled, "a rule that fails as it plans a step is shown the steps before") {
  class Plans final : public Rule {
   public:
    void set_required_tensors(StepNeeds& step) override {
      if (step.step().value == 3) {
        throw std::runtime_error("planned badly");
      }
    }
    void invoke_at_step(StepView& step) override { step.evaluated(); }
  };
  Plans rule;
  const RuleResult result = evaluate(opened, rule);
  CHECK(result.message == "the rule failed: planned badly");
  CHECK(result.steps_evaluated == 3);
}

}  // namespace
}  // namespace smd::test
