// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace smd::test {
namespace {

const RuleTrial::Collections weights_and_gradients = {{"gradients", {"^gradient"}}, {"weights", {"^weight"}}};

/// Six steps of a gradient, a weight and an activation.
void fill(RuleTrial& trial, std::int64_t steps = 6) {
  for (std::int64_t step = 0; step < steps; ++step) {
    trial.step(step, {{"gradient/a", {0, 1e-9F}}, {"weight/a", {1, 2}}, {"b_relu_output", {0, 0}}});
  }
}

void add_many(Evaluator& evaluator) {
  evaluator.add(make_rule("VanishingGradient"));
  evaluator.add(make_rule("ExplodingTensor"));
  evaluator.add(make_rule("DeadRelu"));
  evaluator.add(make_rule("AllZero", {{"tensor_regex", "."}}));
  evaluator.add(make_rule("TensorVariance", {{"tensor_regex", "."}, {"min_threshold", "1"}}));
  evaluator.add(make_rule("UnchangedTensor", {{"tensor_regex", "."}}));
  evaluator.add(make_rule("WeightUpdateRatio"));
  evaluator.add(make_rule("StalledTrainingRule", {{"threshold", "1"}}));
}

std::vector<std::string> texts(const RuleResult& result) {
  std::vector<std::string> all;
  for (const Finding& finding : result.findings) {
    all.push_back(std::to_string(finding.step->value) + " " + finding.worker.value_or("-") + " " + finding.message);
  }
  return all;
}

TEST_CASE("of many findings a result keeps the first, and all are reported") {
  RuleTrial trial(weights_and_gradients);
  fill(trial, 200);
  const Trial opened = trial.open();
  Evaluator all(opened, {.keep_going = true});
  add_many(all);
  all.run();
  std::vector<std::size_t> told(all.results().size());
  Evaluator few(opened, {.keep_going = true, .most_findings = 3, .on_finding = [&](std::size_t rule, const Finding&) {
                           ++told[rule];
                         }});
  add_many(few);
  few.run();
  REQUIRE(all.results()[0].findings.size() == 200);
  for (std::size_t i = 0; i < told.size(); ++i) {
    const RuleResult& whole = all.results()[i];
    const RuleResult& kept = few.results()[i];
    INFO(whole.rule);
    CHECK(told[i] == whole.findings.size());
    CHECK(kept.status == whole.status);
    CHECK(kept.message == whole.message);
    std::vector<std::string> first = texts(whole);
    first.resize(std::min<std::size_t>(first.size(), 3));
    CHECK(texts(kept) == first);
  }
}

TEST_CASE("many rules read each record once, and evaluate as each does alone") {
  RuleTrial trial(weights_and_gradients);
  fill(trial, 40);
  const Trial opened = trial.open();
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  opened.for_each_entry({}, [&](const TensorEntry& entry) {
    ++records;
    bytes += entry.value->length;
    return true;
  });
  REQUIRE(records == 120);
  for (const unsigned jobs : {1U, 4U}) {
    Evaluator together(opened, {.keep_going = true, .jobs = jobs});
    add_many(together);
    together.run();
    CHECK(together.counters().records == records);
    CHECK(together.counters().bytes == bytes);
    for (std::size_t i = 0; i < together.results().size(); ++i) {
      const RuleResult& result = together.results()[i];
      INFO(result.rule);
      ParameterTexts parameters;
      for (const auto& [name, text] : result.params) {
        if (text) {
          parameters[name] = *text;
        }
      }
      const RuleResult alone = trial.run(result.rule, parameters);
      CHECK(texts(alone) == texts(result));
      CHECK(alone.status == result.status);
      CHECK(alone.steps_evaluated == result.steps_evaluated);
      CHECK(alone.steps_skipped == result.steps_skipped);
    }
  }
}

TEST_CASE("a rule stops at the first step that triggered, or goes on") {
  RuleTrial trial(weights_and_gradients);
  fill(trial);
  const RuleResult first = trial.run("VanishingGradient", {}, EvaluationOptions{});
  CHECK(triggered_at(first) == std::vector<std::int64_t>{0});
  CHECK(first.steps_evaluated == 1);
  CHECK(first.last_step == GlobalStep(0));
  CHECK(trial.run("VanishingGradient").findings.size() == 6);
  const Trial opened = trial.open();
  Evaluator evaluator(opened);
  evaluator.add(make_rule("VanishingGradient"));
  evaluator.run();
  CHECK(evaluator.counters().records == 1);  // nothing was read in vain
  CHECK(evaluator.all_done());
}

TEST_CASE("steps, modes, workers and bounds narrow") {
  RuleTrial trial(weights_and_gradients, 2);
  for (std::int64_t step = 0; step < 4; ++step) {
    for (const char* const worker : {"worker_0", "worker_1"}) {
      BuiltStep built;
      built.step = step;
      built.worker = worker;
      built.mode = step % 2 == 0 ? Mode::train : Mode::eval;
      built.mode_step = step / 2;
      built.tensors = {{"gradient/a", {0}}};
      trial.step(built);
    }
  }
  const auto run = [&](EvaluationOptions options) {
    options.keep_going = true;
    return triggered_at(trial.run("VanishingGradient", {}, std::move(options)));
  };
  using Steps = std::vector<std::int64_t>;
  CHECK(run({.mode = Mode::eval, .workers = {"worker_1"}}) == Steps{1, 3});
  CHECK(run({.steps = {{GlobalStep(1), GlobalStep(2)}}, .workers = {"worker_0"}}) == Steps{1, 2});
  CHECK(run({.start = GlobalStep(1), .end = GlobalStep(3), .workers = {"worker_0"}}) == Steps{1, 2});
  CHECK(run({.workers = {"nobody"}}).empty());
  // The parameters bound too; the options win.
  CHECK(triggered_at(trial.run("VanishingGradient", {{"start_step", "3"}})) == Steps{3, 3});
  CHECK(triggered_at(trial.run("VanishingGradient", {{"start_step", "3"}, {"end_step", "3"}},
                               {.start = GlobalStep(2), .keep_going = true})) == Steps{2, 2});
  const ParameterTexts second = {{"start_step", "1"}, {"end_step", "2"}};
  CHECK(triggered_at(trial.run("VanishingGradient", second)) == Steps{1, 1});
  const std::vector<GlobalStep> listed = {GlobalStep(1), GlobalStep(3)};
  CHECK(triggered_at(trial.run("VanishingGradient", second, {.steps = listed})) == Steps{1, 1});
  CHECK(triggered_at(trial.run("VanishingGradient", second,
                               {.steps = listed, .parameter_bounds = false, .keep_going = true})) == Steps{1, 1, 3, 3});
  CHECK(triggered_at(trial.run("VanishingGradient", second,
                               {.start = GlobalStep(2), .parameter_bounds = false, .keep_going = true})) ==
        Steps{2, 2, 3, 3});
}

TEST_CASE("a negative step counts, unless the first step is given") {
  RuleTrial trial(weights_and_gradients);
  trial.step(-1, {{"gradient/a", {0}}}).step(0, {{"gradient/a", {0}}});
  CHECK(triggered_at(trial.run("VanishingGradient")) == std::vector<std::int64_t>{-1, 0});
  CHECK(triggered_at(trial.run("VanishingGradient", {{"start_step", "0"}})) == std::vector<std::int64_t>{0});
}

TEST_CASE("steps that wait for workers are not evaluated, and a warning names the workers") {
  RuleTrial trial({}, 3);
  trial.running();
  const auto add = [&](const char* worker, std::int64_t steps) {
    for (std::int64_t number = 0; number < steps; ++number) {
      BuiltStep step;
      step.step = number;
      step.worker = worker;
      step.mode = number < 3 ? Mode::train : Mode::eval;
      step.tensors = {{"a", {1}}};
      trial.step(step);
    }
  };
  add("worker_0", 4);
  add("worker_1", 2);
  add("worker_2", 1);
  const auto warnings = [&](const EvaluationOptions& options) {
    return trial.run("ExplodingTensor", {}, options).warnings;
  };
  using Texts = std::vector<std::string>;
  const std::string why = " are not complete (worker_1, worker_2 have not written all of them) and were not evaluated";
  CHECK(warnings({}) == Texts{"steps 1 to 3" + why});
  CHECK(warnings({.mode = Mode::train}) == Texts{"steps 1 to 2" + why});
  CHECK(warnings({.steps = {{GlobalStep(0), GlobalStep(3)}}}).empty());
  CHECK(warnings({.workers = {"worker_1"}}) == Texts{"steps 1 to 3" + why});
  CHECK(trial.run("ExplodingTensor").doubtful);
  const RuleResult unasked = trial.run("ExplodingTensor", {{"collection_names", "none"}}, {.end = GlobalStep(1)});
  CHECK(unasked.warnings == Texts{"the trial has no collection 'none'"});
  CHECK_FALSE(unasked.doubtful);
}

TEST_CASE("following: the warning of incomplete steps names those that came since the last evaluated one") {
  RuleTrial trial({}, 2);
  trial.running();
  const auto add = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t number = first; number <= last; ++number) {
      trial.step({.step = number, .worker = "worker_0", .tensors = {{"a", {1}}}});
    }
  };
  trial.step({.step = 0, .worker = "worker_1", .tensors = {{"a", {1}}}});
  add(0, 2);
  Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true, .follow = true});
  evaluator.add(make_rule("ExplodingTensor"));
  evaluator.offer();
  add(3, 5);
  opened.refresh();
  evaluator.finish(false);
  CHECK(evaluator.results()[0].steps_evaluated == 1);
  CHECK(evaluator.results()[0].warnings ==
        Texts{"steps 1 to 5 are not complete (worker_1 has not written them) and were not evaluated"});
}

TEST_CASE("once the job has ended, a warning names workers that stopped long before the others") {
  const auto result = [](std::int64_t steps, std::int64_t of_second, int workers) {
    RuleTrial trial({}, workers);
    for (std::int64_t number = 0; number < steps; ++number) {
      trial.step({.step = number, .worker = "worker_0", .tensors = {{"a", {1}}}});
      if (number < of_second) {
        trial.step({.step = number, .worker = "worker_1", .tensors = {{"a", {nan}}}});
      }
    }
    return trial.run("ExplodingTensor", {}, {.keep_going = true});
  };
  const RuleResult dead = result(30, 10, 2);
  CHECK(dead.warnings ==
        Texts{"steps 10 to 29 are not complete (worker_1 has not written them) and were evaluated all the same"});
  CHECK(dead.doubtful);
  CHECK(dead.steps_evaluated == 30);
  CHECK(result(13, 10, 2).warnings.empty());
  CHECK(result(14, 10, 2).warnings.size() == 1);
  CHECK(result(30, 0, 2).warnings.empty());  // all but one save nothing
  CHECK(result(30, 30, 2).warnings.empty());
}

TEST_CASE("a finding is shown with its worker where there are several") {
  const auto result = [](int workers) {
    RuleTrial trial({}, workers);
    for (int worker = 0; worker < workers; ++worker) {
      trial.step({.step = 0, .worker = "worker_" + std::to_string(worker), .tensors = {{"a", {nan}}}});
    }
    return trial.run("ExplodingTensor", {}, {.keep_going = true});
  };
  const std::string said = "a: non_finite 1 > threshold 0";
  const RuleResult alone = result(1);
  REQUIRE(alone.findings.size() == 1);
  CHECK(alone.findings.front().message == said);
  CHECK(shown_message(alone.findings.front()) == said);
  CHECK(alone.message == said);
  const RuleResult two = result(2);
  REQUIRE(two.findings.size() == 2);
  CHECK(two.findings.front().message == said);
  CHECK(two.findings.back().message == said);
  CHECK(shown_message(two.findings.back()) == "worker_1: " + said);
  CHECK(two.message == "worker_0: " + said);
  CHECK(shown_message({.several_workers = true, .message = said}) == said);  // pooled
}

TEST_CASE("once the job has ended, workers that save rarely are named only if they lack more steps than before") {
  const auto warnings = [](std::int64_t steps, const auto& is_eval, const std::vector<bool (*)(std::int64_t)>& writes) {
    RuleTrial trial({}, static_cast<int>(writes.size()));
    for (std::int64_t number = 0; number < steps; ++number) {
      for (std::size_t worker = 0; worker < writes.size(); ++worker) {
        if (writes[worker](number)) {
          trial.step({.step = number,
                      .worker = "worker_" + std::to_string(worker),
                      .mode = is_eval(number) ? Mode::eval : Mode::train,
                      .tensors = {{"a", {1}}}});
        }
      }
    }
    return trial.run("ExplodingTensor").warnings;
  };
  const auto each = [](std::int64_t /*step*/) { return true; };
  const auto none = [](std::int64_t /*step*/) { return false; };
  const auto tenth = [](std::int64_t step) { return step % 10 == 0; };
  // The step before the last common one is another mode's, which worker_0 alone saves.
  CHECK(warnings(100, [](std::int64_t step) { return step % 10 == 9 && step < 90; }, {each, tenth}).empty());
  // The step before the last common one is common, too.
  CHECK(warnings(30, none, {each, [](std::int64_t step) { return step % 10 < 2; }}).empty());
  const std::string end = " has not written them) and were evaluated all the same";
  CHECK(warnings(90, none, {each, [](std::int64_t step) { return step % 10 == 0 && step <= 30; }}) ==
        Texts{"steps 31 to 89 are not complete (worker_1" + end});
  // Of two workers, one died; the other one saves rarely.
  CHECK(warnings(30, none, {each, tenth, [](std::int64_t step) { return step < 4; }}) ==
        Texts{"steps 1 to 29 are not complete (worker_2 has not written all of them) and were evaluated all the same"});
}

TEST_CASE("following: each complete step once, in order, as it comes") {
  RuleTrial trial(weights_and_gradients);
  trial.running();
  trial.step(0, {{"gradient/a", {0}}});
  Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true, .follow = true});
  evaluator.add(make_rule("VanishingGradient"));
  evaluator.add(make_rule("UnchangedTensor", {{"tensor_regex", "grad"}}));
  evaluator.offer();
  CHECK(triggered_at(evaluator.results()[0]) == std::vector<std::int64_t>{0});
  evaluator.offer();  // nothing new
  trial.step(1, {{"gradient/a", {0}}}).step(2, {{"gradient/a", {0}}});
  evaluator.offer();  // the trial was not refreshed
  CHECK(evaluator.results()[0].findings.size() == 1);
  opened.refresh();
  evaluator.offer(GlobalStep(1));
  CHECK(triggered_at(evaluator.results()[0]) == std::vector<std::int64_t>{0, 1});
  evaluator.offer();
  CHECK(triggered_at(evaluator.results()[0]) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(triggered_at(evaluator.results()[1]) == std::vector<std::int64_t>{2});
  CHECK(evaluator.counters().records == 3);  // values looked back at were kept
  trial.builder().end();
  opened.refresh();
  evaluator.offer();
  evaluator.finish();
  CHECK(evaluator.results()[0].status == RuleStatus::issues_found);
}

TEST_CASE("following: a rule is over once it has come to its end_step, and the others go on") {
  RuleTrial trial(weights_and_gradients);
  trial.running();
  trial.step(0, {{"gradient/a", {0}}});
  Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true, .follow = true});
  evaluator.add(make_rule("VanishingGradient", {{"end_step", "2"}}));
  evaluator.add(make_rule("VanishingGradient", {{"end_step", "4"}}));
  const auto status_after = [&](std::int64_t step, std::size_t rule) {
    trial.step(step, {{"gradient/a", {0}}});
    opened.refresh();
    evaluator.offer();
    return evaluator.results()[rule].status;
  };
  evaluator.offer();
  CHECK(evaluator.results()[0].status == RuleStatus::in_progress);
  CHECK(status_after(1, 0) == RuleStatus::issues_found);  // an index file has come: nothing comes to its step
  CHECK(status_after(2, 1) == RuleStatus::in_progress);
  CHECK_FALSE(evaluator.all_done());
  CHECK(status_after(4, 1) == RuleStatus::issues_found);  // there is no step 3
  CHECK(evaluator.all_done());
  CHECK(triggered_at(evaluator.results()[0]) == Steps{0, 1});
  CHECK(triggered_at(evaluator.results()[1]) == Steps{0, 1, 2});
}

TEST_CASE("following: rules that compare may go less far than the others, and go on from there") {
  RuleTrial trial(weights_and_gradients);
  RuleTrial slower(weights_and_gradients);
  for (std::int64_t step = 0; step < 4; ++step) {
    trial.step(step, {{"gradient/a", {0}}});
    slower.step(step, {{"gradient/a", {static_cast<float>(step % 2)}}});  // differs at 1 and 3
  }
  const Trial opened = trial.open();
  const Trial other = slower.open();
  Evaluator evaluator(opened, {.keep_going = true, .follow = true});
  evaluator.add(make_rule("VanishingGradient"));
  evaluator.add(make_rule("SimilarAcrossRuns", {{"other_trial", "other"}}), {}, {&other});
  const auto steps = [&](std::size_t rule) { return triggered_at(evaluator.results()[rule]); };
  evaluator.offer(GlobalStep(1), GlobalStep(-1));  // to no step
  CHECK(steps(0) == std::vector<std::int64_t>{0, 1});
  CHECK(evaluator.results()[1].steps_evaluated == 0);
  evaluator.offer(GlobalStep(2), GlobalStep(1));
  CHECK(steps(0) == std::vector<std::int64_t>{0, 1, 2});
  CHECK(steps(1) == std::vector<std::int64_t>{1});
  evaluator.offer(GlobalStep(3), GlobalStep(1));  // nothing new to compare
  CHECK(steps(0) == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(evaluator.results()[1].steps_evaluated == 2);
  evaluator.offer(GlobalStep(3), GlobalStep(2));
  CHECK(evaluator.results()[1].steps_evaluated == 3);
  evaluator.offer();
  CHECK(steps(0) == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(steps(1) == std::vector<std::int64_t>{1, 3});
  CHECK(evaluator.results()[0].steps_evaluated == 4);
  CHECK(evaluator.results()[1].steps_evaluated == 4);
}

TEST_CASE("following: a collection that comes or grows later counts from then on") {
  RuleTrial trial;
  trial.running();
  const auto gradients = [&](const std::string& names) {
    trial.builder().file("collections/000000000/worker_0_collections.json",
                         R"({"collections": {"gradients": {"name": "gradients", "tensor_names": [)" + names + "]}}}");
  };
  const RuleTrial::Tensors both = {{"a", {0}}, {"b", {0}}};
  trial.step(0, both);
  Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true, .follow = true});
  evaluator.add(make_rule("VanishingGradient"));
  evaluator.offer();
  CHECK(evaluator.results()[0].findings.empty());
  gradients(R"("a")");
  trial.step(1, both);
  opened.refresh();
  evaluator.offer();
  CHECK(texts(evaluator.results()[0]).size() == 1);
  gradients(R"("a", "b")");
  trial.step(2, both);
  opened.refresh();
  evaluator.offer();
  evaluator.finish(false);
  const RuleResult& result = evaluator.results()[0];
  CHECK(triggered_at(result) == std::vector<std::int64_t>{1, 2, 2});
  CHECK(result.findings.back().tensor == "b");
  CHECK(result.tensors_matched == 2);
  CHECK(result.warnings.empty());
}

TEST_CASE("a pattern that is too slow for a name is a mistake of its rule only") {
  RuleTrial trial(weights_and_gradients);
  fill(trial);
  trial.step(100, {{std::string(40, 'a') + "b", {0}}});
  const Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true});
  evaluator.add(make_rule("AllZero", {{"tensor_regex", "^b, ^(a+)+$"}}));
  evaluator.add(make_rule("UnchangedTensor", {{"tensor_regex", "."}}));
  evaluator.run();
  const RuleResult& slow = evaluator.results()[0];
  CHECK(slow.status == RuleStatus::error);
  CHECK(slow.error_kind == ConfigurationErrorKind::bad_value);
  CHECK(slow.error_parameter == "tensor_regex");
  CHECK(slow.message.starts_with("pattern '^(a+)+$' needs too many steps"));
  CHECK(slow.steps_skipped == 0);
  CHECK(evaluator.results()[1].status == RuleStatus::issues_found);
}

/// Says what its parameter tells it to.
class Misbehaving final : public Rule {
 public:
  explicit Misbehaving(bool planning) : planning_(planning), all_(select({.all = true})) {}
  void set_required_tensors(StepNeeds& step) override {
    if (planning_) {
      throw std::runtime_error("planned badly");
    }
    step.value(step.units(all_).front());
  }
  void invoke_at_step(StepView& step) override {
    for (const Unit& unit : step.units(all_)) {
      // Only what was asked for is there, whatever other rules asked for.
      seen_ += step.value(unit) != nullptr ? 1 : 0;
    }
    throw std::runtime_error("saw " + std::to_string(seen_));
  }

 private:
  bool planning_;
  SelectionId all_;
  int seen_ = 0;
};

TEST_CASE("an exception of a rule ends that rule only; a rule sees only what it asked for") {
  RuleTrial trial(weights_and_gradients);
  fill(trial);
  const Trial opened = trial.open();
  Evaluator evaluator(opened, {.keep_going = true});
  evaluator.add(std::make_unique<Misbehaving>(true), "first");
  evaluator.add(std::make_unique<Misbehaving>(false), "second");
  evaluator.add(make_rule("UnchangedTensor", {{"tensor_regex", "."}}));
  evaluator.add_error("third", "Nothing", ConfigurationError(ConfigurationErrorKind::bad_trial, "no such trial"));
  evaluator.run();
  CHECK(evaluator.results()[0].message == "the rule failed: planned badly");
  CHECK(evaluator.results()[1].message == "the rule failed: saw 1");
  CHECK(evaluator.results()[1].status == RuleStatus::error);
  CHECK(evaluator.results()[2].status == RuleStatus::issues_found);
  CHECK(evaluator.results()[3].error_kind == ConfigurationErrorKind::bad_trial);
  CHECK(evaluator.results()[3].name == "third");
}

TEST_CASE("the result does not depend on steps that were planned and not evaluated") {
  // Windows of 1, 2 and 4 steps: 6 is planned with 5, at which the rule triggers.
  for (const std::int64_t lacking : {5, 6}) {
    RuleTrial trial(weights_and_gradients);
    for (std::int64_t at = 0; at < 8; ++at) {
      RuleTrial::Tensors tensors = {{"gradient/b", {at == 5 ? 0.F : 1.F}}};
      if (at == 5 || at == 6) {
        tensors.emplace_back(at == lacking ? saved("l2", "gradient/a") : "gradient/a", std::vector<float>{1});
      }
      trial.step(at, tensors);
    }
    const RuleResult result = trial.run("VanishingGradient", {}, EvaluationOptions{});
    CHECK(triggered_at(result) == Steps{5});
    // At step 5 either only the norm of gradient/a was saved, or its value.
    CHECK(result.tensors_matched == (lacking == 5 ? 1 : 2));
    CHECK(result.warnings == (lacking == 5 ? Texts{"1 of 2 tensors was skipped, for want of a value or reduction that "
                                                   "the rule can use: gradient/a"}
                                           : Texts{}));
  }
  RuleTrial late(weights_and_gradients);
  for (std::int64_t at = 0; at < 8; ++at) {
    late.step(at, {{"gradient/b", {at == 5 ? 0.F : 1.F}}, {at == 6 ? saved("l2", "gradient/a") : "x", {1}}});
  }
  const RuleResult result = late.run("VanishingGradient", {}, EvaluationOptions{});
  CHECK(triggered_at(result) == Steps{5});
  CHECK(result.tensors_matched == 1);
  CHECK(result.warnings.empty());
}

TEST_CASE("what would be read, without reading it") {
  RuleTrial trial(weights_and_gradients);
  trial.step(0, {{"gradient/a", {0}}, {saved("abs_mean", "gradient/b"), {0}}});
  trial.step(1, {{"gradient/a", {0}}});
  const Trial opened = trial.open();
  Evaluator evaluator(opened);
  evaluator.add(make_rule("VanishingGradient"));
  evaluator.add(make_rule("UnchangedTensor", {{"tensor_regex", "a$"}, {"num_steps", "2"}, {"start_step", "1"}}));
  std::vector<std::string> plan;
  evaluator.plan([&](const PlannedRead& read) {
    plan.push_back(std::to_string(read.rule) + " " + std::to_string(read.step.value) + " " +
                   std::to_string(read.read_step.value) + " " + std::string(read.tensor) + " " + read.what);
  });
  CHECK(plan == std::vector<std::string>{"0 0 0 gradient/a abs_mean of value", "0 0 0 gradient/b saved abs_mean",
                                         "0 1 1 gradient/a abs_mean of value", "1 1 0 gradient/a value",
                                         "1 1 1 gradient/a value"});
  CHECK(evaluator.counters().records == 0);
  CHECK_THROWS_AS(evaluator.plan([](const PlannedRead&) { throw 5; }), int);
  evaluator.run();
  CHECK(evaluator.results()[0].steps_evaluated == 1);  // stops there
  CHECK(evaluator.results()[1].steps_evaluated == 1);
}

TEST_CASE("invoke_rule, as the reference's") {
  RuleTrial trial(weights_and_gradients);
  fill(trial);
  const Trial opened = trial.open();
  const auto rule = make_rule("VanishingGradient");
  rule->set_trials(opened);
  CHECK(invoke_rule(*rule, GlobalStep(1), GlobalStep(4)).findings.size() == 3);
  try {
    static_cast<void>(invoke_rule(*rule, GlobalStep(2), {}, true));
    FAIL("the condition was met");
  } catch (const RuleEvaluationConditionMet& met) {
    CHECK(met.rule == "VanishingGradient");
    CHECK(met.step == GlobalStep(2));
    CHECK(met.what() ==
          std::string("Evaluation of the rule VanishingGradient at step 2 resulted in the condition being met"));
  }
}

}  // namespace
}  // namespace smd::test
