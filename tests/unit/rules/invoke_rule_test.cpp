// SPDX-License-Identifier: Apache-2.0
// invoke_rule on trials whose job runs, with a hand-wound clock and a scripted directory.
#include "framework/rule_run.hpp"
#include "rule_support.hpp"
#include "support/caught_log.hpp"
#include "unit/trial/scripted_trial.hpp"

#include <smd/custom_rule.hpp>
#include <smd/error.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <stop_token>
#include <string>

namespace smd::test {
namespace {

using namespace std::chrono_literals;

/// Met where tensor `a` of `simple_step`, which is the step's number, is a multiple of three.
class ThirdStep final : public CustomRule {
 public:
  using CustomRule::CustomRule;
  bool invoke_at_step(GlobalStep step) override {
    seen.push_back(step.value);
    return static_cast<std::int64_t>(base_trial().tensor("a").value(step).item()) % 3 == 0;
  }
  Steps seen;
};

/// A trial of one worker that gets steps 0, 1, 3 and 4 in the first 400 ms, and ends after 500.
struct Live {
  explicit Live(bool ends = true) : builder(dir.path()) {
    builder.collections();
    builder.step(simple_step(0));
    for (const std::int64_t step : {1, 3, 4}) {
      script.at(100ms * step, [this, step] { builder.step(simple_step(step)); });
    }
    if (ends) {
      script.at(500ms, [this] { builder.end(); });
    }
  }
  [[nodiscard]] Trial open() { return script.open(dir.path()); }

  TempDir dir;
  TrialBuilder builder;
  Script script;
};

/// `invoke_rule` by the script's clock.
RuleResult invoke(const Script& script, Rule& rule, GlobalStep start = {}, std::optional<GlobalStep> end = {},
                  bool raise_eval_cond = false, const WaitOptions& wait = {}, WaitOutcome* outcome = nullptr) {
  return detail::rules::invoke_rule_by([&] { return script.clock().now(); }, rule, start, end, raise_eval_cond, wait,
                                       outcome);
}

/// A rule over such a trial, and the library's log.
struct LiveRule {
  const CaughtLog log{LogLevel::info};
  Live live;
  const Trial trial = live.open();
  ThirdStep rule{trial};
};

TEST_CASE_FIXTURE(LiveRule, "while the job runs the next step is waited for, until the job has ended") {
  const RuleResult result = invoke(live.script, rule);
  CHECK(rule.seen == Steps{0, 1, 3, 4});
  CHECK(triggered_at(result) == Steps{0, 3});
  CHECK(result.status == RuleStatus::issues_found);
  CHECK(result.steps_evaluated == 4);
  CHECK(live.script.elapsed() == 1500ms);  // the end is believed after a second
  CHECK(log.lines == Texts{"info: Evaluation of the rule ThirdStep at step 0 resulted in the condition being met",
                           "info: Evaluation of the rule ThirdStep at step 3 resulted in the condition being met"});
}

TEST_CASE("it is over as soon as the step before end_step was evaluated") {
  const CaughtLog log(LogLevel::info);
  Live live(false);
  const Trial trial = live.open();
  ThirdStep rule(trial);
  WaitOutcome outcome = WaitOutcome::ended;
  const RuleResult result = invoke(live.script, rule, GlobalStep(1), GlobalStep(4), false, {}, &outcome);
  CHECK(rule.seen == Steps{1, 3});
  CHECK(live.script.elapsed() == 300ms);
  CHECK(outcome == WaitOutcome::reached);
  CHECK(result.status == RuleStatus::issues_found);
  // Step 2 is skipped; that is known when step 3 comes.
  Live again(false);
  const Trial other = again.open();
  ThirdStep second(other);
  static_cast<void>(invoke(again.script, second, GlobalStep(0), GlobalStep(3)));
  CHECK(second.seen == Steps{0, 1});
  CHECK(again.script.elapsed() == 300ms);
  ThirdStep none(other);
  CHECK(invoke(again.script, none, GlobalStep(5), GlobalStep(5)).status == RuleStatus::not_evaluated);
}

TEST_CASE_FIXTURE(LiveRule, "a job that ends before end_step: NoMoreData, while it runs and afterwards") {
  const auto thrown = [&](ThirdStep& invoked, std::int64_t start, std::int64_t end) -> std::int64_t {
    try {
      static_cast<void>(invoke(live.script, invoked, GlobalStep(start), GlobalStep(end)));
    } catch (const NoMoreData& no_more) {
      CHECK(no_more.last_step == 4);
      return no_more.step.number;
    }
    return -1;
  };
  CHECK(thrown(rule, 0, 100) == 5);  // step 4 is the last
  CHECK(rule.seen == Steps{0, 1, 3, 4});
  CHECK(log.lines.size() == 2);
  CHECK(thrown(rule, 0, 6) == 5);
  CHECK(thrown(rule, 0, 5) == -1);
  CHECK(thrown(rule, 0, 2) == -1);
  CHECK(thrown(rule, 7, 9) == 7);
  CHECK(thrown(rule, 7, 7) == -1);
}

TEST_CASE("with raise_eval_cond it ends at the first step, which is then not logged") {
  const CaughtLog log(LogLevel::info);
  Live live(false);
  const Trial trial = live.open();
  ThirdStep rule(trial);
  try {
    static_cast<void>(invoke(live.script, rule, GlobalStep(1), {}, true));
    FAIL("the condition is met at step 3");
  } catch (const RuleEvaluationConditionMet& met) {
    CHECK(met.step == GlobalStep(3));
    CHECK(met.rule == "ThirdStep");
  }
  CHECK(live.script.elapsed() == 300ms);
  CHECK(log.lines.empty());
}

TEST_CASE_FIXTURE(LiveRule, "a deadline or a stop token ends it early, and the result says so") {
  WaitOutcome outcome = WaitOutcome::ended;
  const RuleResult early =
      invoke(live.script, rule, {}, GlobalStep(100), false, {.deadline = live.script.after(250ms)}, &outcome);
  CHECK(outcome == WaitOutcome::timed_out);
  CHECK(live.script.elapsed() == 250ms);
  CHECK(rule.seen == Steps{0, 1});
  CHECK(early.status == RuleStatus::in_progress);
  CHECK(triggered_at(early) == Steps{0});

  std::stop_source source;
  source.request_stop();
  const RuleResult stopped = invoke(live.script, rule, {}, {}, false, {.stop = source.get_token()}, &outcome);
  CHECK(outcome == WaitOutcome::stopped);
  CHECK(stopped.status == RuleStatus::in_progress);
  CHECK(stopped.steps_evaluated <= 2);  // what was there; it waits for nothing
}

TEST_CASE("a required step of another trial is waited for") {
  const CaughtLog log(LogLevel::info);
  TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0)).step(simple_step(1)).end();
  const Trial base = Trial::open(dir.path());
  class Compares final : public CustomRule {
   public:
    Compares(const Trial& trial, const Trial& other) : CustomRule(trial, {}, {&other}) {}
    void set_required_tensors(GlobalStep step) override {
      req_tensors().add("a", {step});
      req_tensors().add("a", {step}, other_trials()[0]);
    }
    bool invoke_at_step(GlobalStep step) override {
      return other_trials()[0]->tensor("a").value(step).item() == base_trial().tensor("a").value(step).item();
    }
  };
  SUBCASE("until it comes") {
    Live live;
    const Trial other = live.open();
    Compares rule(base, other);
    CHECK(triggered_at(invoke(live.script, rule)) == Steps{0, 1});
    CHECK(live.script.elapsed() == 100ms);
  }
  SUBCASE("until it is stopped") {
    TempDir other_dir;
    TrialBuilder other_builder(other_dir.path());
    other_builder.collections().step(simple_step(0));
    Script script;
    std::stop_source source;
    script.at(50ms, [&] { source.request_stop(); });
    const Trial other = script.open(other_dir.path());
    Compares rule(base, other);
    WaitOutcome outcome = WaitOutcome::ended;
    const RuleResult result = invoke(script, rule, {}, {}, false, {.stop = source.get_token()}, &outcome);
    CHECK(outcome == WaitOutcome::stopped);
    CHECK(result.status == RuleStatus::in_progress);
    CHECK(triggered_at(result) == Steps{0});
  }
  SUBCASE("not by an evaluator that is not told to") {
    Live live;
    const Trial other = live.open();
    Compares rule(base, other);
    Evaluator evaluator(base, {.keep_going = true});
    evaluator.add(rule);
    evaluator.run();
    CHECK(triggered_at(evaluator.results().front()) == Steps{0});
    CHECK(evaluator.results().front().message == "the rule failed: step 1 is not there yet; the job is still running");
    CHECK(live.script.waits() == 0);
  }
}

TEST_CASE("a step is evaluated when the other trial has come to it, or has ended") {
  const CaughtLog log(LogLevel::info);
  Live live;
  TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0));
  const auto put = [&](std::int64_t step, float value) {
    BuiltStep built = simple_step(step);
    built.tensors = {{"a", {value}}};
    builder.step(built);
  };
  live.script.at(2000ms, [&] { put(1, 1); });
  live.script.at(2100ms, [&] { put(3, 7); });
  live.script.at(2200ms, [&] { builder.end(); });
  const Trial base = live.open();
  const Trial other = live.script.open(dir.path());
  const auto rule = make_rule("SimilarAcrossRuns", {{"other_trial", dir.path()}});
  rule->set_trials(base, {&other});
  SUBCASE("the other job is slower, and ends before the last step") {
    const RuleResult result = invoke(live.script, *rule);
    CHECK(triggered_at(result) == Steps{3});
    CHECK(result.steps_evaluated == 3);
    CHECK(live.script.elapsed() >= 3200ms);  // its end is believed after a second
  }
  SUBCASE("time is up before") {
    WaitOutcome outcome = WaitOutcome::ended;
    const RuleResult result =
        invoke(live.script, *rule, {}, {}, false, {.deadline = live.script.after(1900ms)}, &outcome);
    CHECK(outcome == WaitOutcome::timed_out);
    CHECK(result.status == RuleStatus::in_progress);
    CHECK(result.steps_evaluated == 1);
  }
}

TEST_CASE("a built-in rule that watches the clock is given the time") {
  const CaughtLog log(LogLevel::info);
  Live live(false);
  live.script.at(20s, [&] { live.builder.end(); });
  const Trial trial = live.open();
  const auto rule = make_rule("StalledTrainingRule", {{"threshold", "5"}});
  rule->set_trials(trial);
  try {
    static_cast<void>(invoke(live.script, *rule, {}, {}, true));
    FAIL("nothing came for five seconds");
  } catch (const RuleEvaluationConditionMet& met) {
    CHECK(met.rule == "StalledTrainingRule");
  }
  CHECK(live.script.elapsed() >= 5400ms);  // the last step came at 400 ms
  CHECK(live.script.elapsed() < 7s);       // and the clock is looked at each second
}

TEST_CASE("what comes late to a range of a log is evaluated") {
  const CaughtLog log(LogLevel::info);
  TempDir dir;
  dir.write("metrics.csv", "step,b,a\n0,1,\n9,1,\n");
  Script script;
  script.at(500ms, [&] { std::ofstream(dir / "metrics.csv", std::ios::app) << "5,,3\n"; });
  const Trial trial = script.open(dir.path());
  ThirdStep rule(trial);
  WaitOutcome outcome = WaitOutcome::ended;
  SUBCASE("in order, ten seconds after the last that came to it") {
    CHECK(triggered_at(invoke(script, rule, {}, GlobalStep(9), false, {}, &outcome)) == Steps{5});
    CHECK(rule.seen == Steps{0, 5});
    CHECK(outcome == WaitOutcome::reached);
    CHECK(script.elapsed() >= 10500ms);
    CHECK(script.elapsed() < 12s);
  }
  SUBCASE("or when time is up") {
    CHECK(triggered_at(invoke(script, rule, {}, {}, false, {.deadline = script.after(1s)}, &outcome)) == Steps{5});
    CHECK(rule.seen == Steps{0, 5, 9});
    CHECK(outcome == WaitOutcome::timed_out);
    CHECK(script.elapsed() == 1s);
  }
}

TEST_CASE("all steps of a log that were held back are evaluated when time is up") {
  const CaughtLog log(LogLevel::info);
  TempDir dir;
  std::string text = "step,a\n";
  for (int step = 0; step < 200; ++step) {
    text += std::to_string(step) + ",1\n";
  }
  dir.write("metrics.csv", text);
  Script script;
  const Trial trial = script.open(dir.path());
  ThirdStep rule(trial);
  WaitOutcome outcome = WaitOutcome::ended;
  (void)invoke(script, rule, {}, {}, false, {.deadline = script.after(1s)}, &outcome);
  CHECK(rule.seen.size() == 200);
  CHECK(outcome == WaitOutcome::timed_out);
}

TEST_CASE("a rule without a trial is refused") {
  const auto rule = make_rule("VanishingGradient");
  CHECK_THROWS_AS(static_cast<void>(invoke_rule(*rule)), InvalidArgument);
}

}  // namespace
}  // namespace smd::test
