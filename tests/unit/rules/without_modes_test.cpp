// SPDX-License-Identifier: Apache-2.0
// Rules on trials whose steps have no modes: names tell training from validation.
#include "memory_layout.hpp"
#include "rule_support.hpp"
#include "support/temp_dir.hpp"
#include "wire/encode.hpp"
#include "wire/framing.hpp"

#include <smd/error.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace smd::test {
namespace {

using TensorPairs = std::vector<TensorPair>;

RuleResult evaluate(const MemoryTrial& job, const std::string& rule, const ParameterTexts& parameters = {},
                    EvaluationOptions options = {.keep_going = true}) {
  Script script;
  return result_of(job.open(script), make_rule(rule, parameters), std::move(options));
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool warns(const RuleResult& result, const std::string& part) {
  return std::any_of(result.warnings.begin(), result.warnings.end(),
                     [&](const std::string& warning) { return says(warning, part); });
}

TEST_CASE("restarted, rules judge what came late, and not what no longer counts; others go on") {
  MemoryTrial job;
  job.number(0, "loss", 1).number(1, "loss", 1);
  Script script;
  Trial trial = job.open(script);
  const auto make_again = [](std::size_t rule) { return rule == 0 ? make_rule("ExplodingTensor") : nullptr; };
  Evaluator evaluator(trial, {.keep_going = true, .follow = true, .make_again = make_again});
  evaluator.add(make_rule("ExplodingTensor"));
  evaluator.add(make_rule("StalledTrainingRule", {{"threshold", "60"}}));
  const auto again = [&] {
    trial.refresh();
    evaluator.restart();
    evaluator.offer();
    CHECK(triggered_at(evaluator.results()[1]) == Steps{1});
    CHECK(evaluator.results()[1].rule == "StalledTrainingRule");
    return evaluator.results()[0];
  };
  evaluator.offer();
  evaluator.tick(100, true);
  evaluator.tick(160, false);
  job.elements(0, "eval/loss", {INFINITY}).number(2, "loss", 1);
  trial.refresh();
  evaluator.offer();
  CHECK(triggered_at(evaluator.results()[0]).empty());
  const RuleResult late = again();
  CHECK(triggered_at(late) == Steps{0});
  CHECK(late.steps_evaluated == 3);
  job.restart(0).number(0, "loss", 1);
  const RuleResult back = again();
  CHECK(back.findings.empty());
  CHECK(back.steps_evaluated == 1);
  evaluator.finish();
  CHECK(evaluator.results()[0].status == RuleStatus::no_issues_found);
  CHECK(evaluator.results()[1].status == RuleStatus::issues_found);
}

TEST_CASE("restarted, rules that no further step reaches have nothing to look at") {
  MemoryTrial job;
  job.number(0, "train/loss", 1).number(0, "eval/loss", 4);
  Script script;
  Trial trial = job.open(script);
  const auto make_again = [](std::size_t rule) { return make_rule(rule == 0 ? "Overfit" : "Overtraining"); };
  Evaluator evaluator(trial, {.keep_going = true, .follow = true, .make_again = make_again});
  evaluator.add(make_rule("Overfit"));
  evaluator.add(make_rule("Overtraining"));
  evaluator.offer();
  CHECK(triggered_at(evaluator.results()[0]) == Steps{0});
  evaluator.restart();
  evaluator.finish();
  for (const RuleResult& result : evaluator.results()) {
    CAPTURE(result.rule);
    CAPTURE(result.message);
    CHECK(result.status == RuleStatus::not_evaluated);
  }
}

TEST_CASE("a log at rest is taken as ended, even if it may grow") {
  /// Notes what the end says.
  class SeesEnd final : public Rule {
   public:
    void invoke_at_step(StepView& step) override { step.evaluated(); }
    void at_end(RuleEnd& end) override { ended = end.ended(); }

    std::optional<bool> ended;
  };
  MemoryTrial job;
  job.number(0, "loss", 1).number(1, "loss", 1);
  Script script;
  const auto ended = [&](const TrialOptions& options, bool follow) {
    const Trial trial = job.open(script, options);
    CHECK_FALSE(trial.ended());
    SeesEnd rule;
    Evaluator evaluator(trial, {.keep_going = true, .follow = follow, .now = [] { return 1e12; }});
    evaluator.add(rule);
    evaluator.add(make_rule("StalledTrainingRule"));
    evaluator.run();
    CHECK(evaluator.results()[1].findings.empty());
    return rule.ended;
  };
  CHECK(ended({.as_it_stands = true, .until_it_grows = true}, false) == true);
  CHECK(ended({.as_it_stands = true, .until_it_grows = true}, true) == false);
  CHECK(ended({}, false) == false);
}

TEST_CASE("pairs and sides that only a later name makes are judged as afterwards") {
  const auto follow = [](const std::string& rule, const ParameterTexts& parameters, bool has_test) {
    MemoryTrial job;
    job.number(0, "loss", 3).number(1, "loss", 2).number(2, "loss", 1);
    if (has_test) {
      job.number(1, "test/loss", 9);  // stands for validation until there is one
    }
    Script script;
    Trial trial = job.open(script);
    const auto make_again = [&](std::size_t) { return make_rule(rule, parameters); };
    Evaluator evaluator(trial, {.keep_going = true, .follow = true, .make_again = make_again});
    evaluator.add(make_rule(rule, parameters));
    evaluator.offer();
    job.number(3, "loss", 1).number(3, "val/loss", 1.7).number(4, "loss", 1.5).number(4, "val/loss", 1.7);
    trial.refresh();
    evaluator.offer();
    evaluator.finish();
    const RuleResult afterwards = evaluate(job, rule, parameters);
    const RuleResult result = evaluator.results().front();
    CHECK(values(result) == values(afterwards));
    CHECK(result.steps_evaluated == afterwards.steps_evaluated);
    CHECK(result.pairs == afterwards.pairs);
    return triggered_at(result);
  };
  for (const bool has_test : {false, true}) {
    CAPTURE(has_test);
    // step 3: training (3 + 2 + 1 + 1) / 4 = 1.75, above 1.7; step 4: (1.7 - 1.5) / 1.5
    CHECK(follow("Overfit", {}, has_test) == Steps{4});
    CHECK(follow("Overfit", {{"pairs", "run/loss:run/val/loss"}}, has_test) == Steps{4});
    CHECK(follow("Overfit", {{"tensor_regex", "test/loss"}}, has_test).empty());  // no pair once there is a validation
    CHECK(follow("Overtraining", {{"patience_train", "1"}}, has_test).empty());
    CHECK(follow("LossNotDecreasing", {{"mode", "TRAIN"}, {"num_steps", "1"}}, has_test) == Steps{3, 4});
    CHECK(follow("LossNotDecreasing", {{"mode", "EVAL"}, {"num_steps", "1"}}, has_test).empty());
  }
}

TEST_CASE("names that come late, one after another, are judged as afterwards at the end") {
  MemoryTrial job;
  for (std::int64_t step = 0; step < 3; ++step) {
    job.number(step, "loss", 2).number(step, "aux_loss", 3).number(step, "box_loss", 4);
  }
  Script script;
  Trial trial = job.open(script);
  const auto make_again = [](std::size_t) { return make_rule("Overfit"); };
  Evaluator evaluator(trial, {.keep_going = true, .follow = true, .make_again = make_again});
  evaluator.add(make_rule("Overfit"));
  evaluator.offer();
  std::int64_t step = 3;
  for (const char* const late : {"val_loss", "val_aux_loss", "val_box_loss"}) {
    job.number(step++, late, 9);
    trial.refresh();
    evaluator.offer();
  }
  evaluator.finish();
  const RuleResult& result = evaluator.results().front();
  CHECK(triggered_at(result) == Steps{3, 4, 5});
  CHECK(values(result) == std::vector<double>{3.5, 2, 1.25});  // (9 - 2) / 2, (9 - 3) / 3, (9 - 4) / 4
}

TEST_CASE("following: a name of which all values were superseded counts again once it has one") {
  // A job that was begun again from the first step, and validates only from the second step on.
  const std::string event_file = "events.out.tfevents.1700000000.host.1.0";
  const auto framed = [](const std::string& event) {
    std::string bytes;
    detail::wire::append_record(bytes, std::as_bytes(std::span(event)), detail::wire::Protection::checksum);
    return bytes;
  };
  const auto row = [&](const std::string& file, std::int64_t step, std::optional<float> validation) {
    if (file != event_file) {
      return fmt::format("{},1,{}\n", step, validation ? fmt::format("{}", *validation) : "");
    }
    std::string bytes;
    for (const auto& [tag, value] : {std::pair("train/loss", std::optional(1.0F)), std::pair("val/loss", validation)}) {
      std::string event;
      if (value) {
        detail::wire::append_scalar_summary(event, {.tag = tag, .wall_time = 1, .step = step}, *value);
        bytes += framed(event);
      }
    }
    return bytes;
  };
  for (const std::string& file : {std::string("metrics.csv"), event_file}) {
    for (const bool watched : {false, true}) {  // from before the restart, which brings the name
      CAPTURE(file);
      CAPTURE(watched);
      const TempDir dir;
      const auto append = [&](const std::string& bytes) {
        std::ofstream(dir / file, std::ios::binary | std::ios::app) << bytes;
      };
      const auto begin = [&](const std::string& names) {  // a SessionLog with the status START
        append(file == event_file ? framed("\x3A\x02\x08\x01") : names + "\n");
      };
      begin(watched ? "step,train/loss" : "step,train/loss,val/loss");
      for (std::int64_t step = 0; step < 4; ++step) {
        append(watched && file != event_file ? fmt::format("{},1\n", step)
                                             : row(file, step, watched ? std::nullopt : std::optional(1.0F)));
      }
      const auto restart = [&] {
        begin("step,train/loss,val/loss");
        append(row(file, 0, std::nullopt));
      };
      if (!watched) {
        restart();
      }
      Trial trial = Trial::open(dir.path());
      const auto make = [](std::size_t rule) {
        return rule == 0 ? make_rule("Overfit")
               : rule == 1
                   ? make_rule("LossNotDecreasing", {{"mode", "EVAL"}, {"num_steps", "1"}})
                   : make_rule("Threshold",
                               {{"tensor_regex", "val"}, {"reduction", "max"}, {"operator", ">"}, {"threshold", "1"}});
      };
      Evaluator evaluator(trial, {.keep_going = true, .follow = true, .make_again = make});
      for (std::size_t rule = 0; rule < 3; ++rule) {
        evaluator.add(make(rule));
      }
      evaluator.offer();
      if (watched) {
        restart();
        trial.refresh();
        evaluator.restart();
        evaluator.offer();
      }
      for (std::int64_t step = 1; step < 6; ++step) {
        append(row(file, step, 0.5F + static_cast<float>(step)));
        trial.refresh();
        evaluator.offer();
      }
      evaluator.finish();
      CHECK(values(evaluator.results()[0]) == std::vector<double>{0.5, 1.5, 2.5, 3.5, 4.5});  // (1.5 - 1) / 1 and so on
      CHECK(triggered_at(evaluator.results()[1]) == Steps{4, 5});  // each median is above the one before
      CHECK(triggered_at(evaluator.results()[2]) == Steps{1, 2, 3, 4, 5});
    }
  }
}

/// Training at steps 0, 1 and 3, validation at 1, 2 and 4.
MemoryTrial small_job() {
  MemoryTrial job;
  job.number(0, "train/loss", 1).number(1, "train/loss", 3).number(1, "eval/loss", 4).number(2, "eval/loss", 9);
  job.number(3, "train/loss", 2).number(4, "eval/loss", 3);
  return job;
}

TEST_CASE("a validation value is compared with the mean of training since the one before, up to its own step") {
  // step 1: training (1 + 3) / 2 = 2, (4 - 2) / 2 = 1; step 2: no training; step 4: (3 - 2) / 2 = 0.5
  const RuleResult result = evaluate(small_job(), "Overfit");
  CHECK(triggered_at(result) == Steps{1, 4});
  CHECK(values(result) == std::vector<double>{1, 0.5});
  CHECK(result.steps_evaluated == 2);
  REQUIRE(result.findings.size() == 2);
  CHECK(result.findings[0].tensor == "run/eval/loss");
  CHECK_FALSE(result.findings[0].worker.has_value());
  CHECK(result.findings[0].mode == Mode::global);
  CHECK(result.findings[0].message == "run/eval/loss: ratio 1 > threshold 0.1, with training run/train/loss");
  CHECK(result.pairs == TensorPairs{{"run/train/loss", "run/eval/loss"}});
  // from step 1 on: (4 - 3) / 3
  CHECK(values(evaluate(small_job(), "Overfit", {{"start_step", "1"}})) == std::vector<double>{1.0 / 3, 0.5});
}

TEST_CASE("a pair's loss at a step is the mean over workers") {
  MemoryTrial job;
  job.number(0, "train/loss", 1).number(0, "train/loss", 3, Dtype::float32, "worker_1");
  job.number(0, "eval/loss", 3).number(0, "eval/loss", 5, Dtype::float32, "worker_1");
  CHECK(values(evaluate(job, "Overfit")) == std::vector<double>{1});  // (4 - 2) / 2
}

TEST_CASE("Overtraining observes pairs") {
  MemoryTrial job;
  for (std::int64_t step = 0; step < 4; ++step) {
    job.number(step, "train/loss", 4 - static_cast<double>(step)).number(step, "eval/loss", 1);
  }
  const RuleResult result = evaluate(job, "Overtraining", {{"patience_validation", "2"}});
  CHECK(triggered_at(result) == Steps{2, 3});  // no better than at step 0 for two and for three observations
  CHECK(values(result) == std::vector<double>{2, 3});
  CHECK(result.findings[0].check == "validation");
  CHECK(result.pairs.size() == 1);
}

TEST_CASE("said pairs win, and may have names with colons") {
  MemoryTrial job = small_job();
  job.number(0, "a:b", 1).number(0, "c:d", 2);
  CHECK(evaluate(job, "Overfit", {{"pairs", "run/eval/loss:run/train/loss"}}).pairs ==
        TensorPairs{{"run/eval/loss", "run/train/loss"}});
  const RuleResult result = evaluate(job, "Overfit", {{"pairs", " run/a:b:run/c:d , run/train/loss : run/eval/loss"}});
  CHECK(result.pairs == TensorPairs{{"run/a:b", "run/c:d"}, {"run/train/loss", "run/eval/loss"}});
  CHECK(triggered_at(result) == Steps{0, 1, 4});
  CHECK(refused("Overfit", {{"pairs", "loss"}}) == "bad_value pairs");
  CHECK(refused("Overfit", {{"pairs", "loss:"}}) == "bad_value pairs");
  CHECK(refused("Overtraining", {{"pairs", "a:b,c"}}) == "bad_value pairs");
}

TEST_CASE("a said name that the trial does not have") {
  const RuleResult none = evaluate(small_job(), "Overfit", {{"pairs", "run/train/los:run/eval/loss"}});
  CHECK(none.status == RuleStatus::not_evaluated);
  CHECK(none.message == "nothing was evaluated: no tensor 'run/train/los' was saved; similar names: run/train/loss");
  const RuleResult one =
      evaluate(small_job(), "Overfit", {{"pairs", "run/train/los:run/eval/loss,run/train/loss:run/eval/loss"}});
  CHECK(one.steps_evaluated == 2);
  CHECK(warns(one, "pairs: no tensor 'run/train/los' was saved"));
}

TEST_CASE("without a loss, names that tell training from validation are named") {
  MemoryTrial job;
  for (std::int64_t step = 0; step < 3; ++step) {
    job.number(step, "train-rmse", 1)
        .number(step, "validation-rmse", 1 + static_cast<float>(step))
        .number(step, "lr", 1);
  }
  for (const char* const rule : {"Overfit", "Overtraining"}) {
    const RuleResult result = evaluate(job, rule);
    CHECK(result.status == RuleStatus::not_evaluated);
    CHECK(result.doubtful);
    CHECK(result.message == "nothing was evaluated: collection 'losses' has no tensor");
    CHECK(result.warnings == Texts{"no name is that of a loss, but some tell training from validation; if they are "
                                   "losses, say pairs=run/train-rmse:run/validation-rmse"});
  }
  const RuleResult said = evaluate(job, "Overfit", {{"pairs", "run/train-rmse:run/validation-rmse"}});
  CHECK(triggered_at(said) == Steps{1, 2});
  CHECK(said.warnings.empty());
  CHECK(evaluate(job.number(0, "loss", 1), "Overfit").warnings.empty());  // the message says what to do
}

TEST_CASE("without a loss, names of which the greatest value may be the best are not named") {
  MemoryTrial job;
  for (const char* const name : {"accuracy", "reward", "runtime", "neg_rmse"}) {
    job.number(0, std::string("train/") + name, 1).number(0, std::string("eval/") + name, 1);
  }
  CHECK(evaluate(job, "Overfit").warnings.empty());
  job.number(0, "train/perplexity", 1).number(0, "eval/perplexity", 1);
  CHECK(warns(evaluate(job, "Overfit"), "if they are losses, say pairs=run/train/perplexity:run/eval/perplexity"));
}

TEST_CASE("without a pair nothing is evaluated, and the losses are named") {
  MemoryTrial job;
  job.number(0, "actor/loss", 1).number(0, "critic/loss", 1).number(0, "val/lr", 1).number(0, "lr", 1);
  for (const char* const rule : {"Overfit", "Overtraining"}) {
    const RuleResult result = evaluate(job, rule);
    CHECK(result.status == RuleStatus::not_evaluated);
    CHECK(says(result.message, "run/actor/loss, run/critic/loss"));
    CHECK(says(result.message, "pairs=train_name:eval_name"));
    CHECK(result.pairs.empty());
  }
  // tensor_regex chooses among validation names, whatever they measure; the training name need not match
  CHECK(evaluate(job, "Overfit", {{"tensor_regex", "val"}}).pairs == TensorPairs{{"run/lr", "run/val/lr"}});
  const RuleResult training = evaluate(job, "Overfit", {{"tensor_regex", "^run/lr"}});
  CHECK(training.status == RuleStatus::not_evaluated);
  CHECK(says(training.message, "run/lr"));
  CHECK(says(evaluate(job, "Overfit", {{"tensor_regex", "nosuch"}}).message, "no tensor matches pattern 'nosuch'"));
}

TEST_CASE("a validation loss before any training is not evaluated") {
  MemoryTrial job;
  job.number(0, "eval/loss", 1).number(1, "train/loss", 1);
  const RuleResult result = evaluate(job, "Overfit");
  CHECK(result.status == RuleStatus::not_evaluated);
  CHECK(says(result.message, "run/train/loss:run/eval/loss"));
}

TEST_CASE("no other number stands in for a loss") {
  MemoryTrial job;
  job.number(0, "lr", 1).number(20, "lr", 1);
  for (const char* const rule : {"LossNotDecreasing", "Overfit", "Overtraining"}) {
    CHECK(evaluate(job, rule).status == RuleStatus::not_evaluated);
  }
}

/// One loss, whose values are steps apart that say nothing.
MemoryTrial observed(const std::vector<float>& losses) {
  MemoryTrial job;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    job.elements(static_cast<std::int64_t>(i * i), "loss", {losses[i]});
  }
  return job;
}

TEST_CASE("LossNotDecreasing compares medians of quarters, counted in values") {
  // n = 8 (step 49): quarters (4, 9) and (5, 100): medians 6.5 and 52.5: 100 * (6.5 - 52.5) / 6.5
  // n = 10 (step 81): floor(10 / 2) = 5 to floor(30 / 4) = 7, and to 10: (9, 5) and (100, 1, 2): medians 7 and 2
  // n = 12 (step 121): (5, 100, 1) and (2, 7, 6): medians 5 and 6: 100 * (5 - 6) / 5 = -20
  const MemoryTrial job = observed({1, 1, 1, 1, 4, 9, 5, 100, 1, 2, 7, 6, 0});
  const RuleResult result = evaluate(job, "LossNotDecreasing", {{"num_steps", "2"}});
  CHECK(result.steps_evaluated == 3);
  REQUIRE(triggered_at(result) == Steps{49, 121});
  CHECK(result.findings[0].value == doctest::Approx(-100 * 46 / 6.5));
  CHECK(result.findings[1].value == -20);
  CHECK(result.findings[1].check == "decrease_percent");
  CHECK(result.findings[1].message ==
        "run/loss: decrease_percent -20 < threshold 0.1, from a median of 5 (steps 36 to 64) to 6 (steps 81 to 121)");
  CHECK(result.findings[1].details == std::vector<std::pair<std::string, std::string>>{{"old", "5"},
                                                                                       {"old_first_step", "36"},
                                                                                       {"old_last_step", "64"},
                                                                                       {"new", "6"},
                                                                                       {"new_first_step", "81"},
                                                                                       {"new_last_step", "121"}});
  // Only values at steps at which the rule is invoked count. From step 16 on, n = 8 is at step 121: (1, 2) and (7, 6),
  // medians 1.5 and 6.5
  const RuleResult later =
      evaluate(job, "LossNotDecreasing", {{"num_steps", "2"}}, {.start = GlobalStep(16), .keep_going = true});
  REQUIRE(triggered_at(later) == Steps{121});
  CHECK(later.findings[0].value == doctest::Approx(-100 * 5 / 1.5));
}

TEST_CASE("zero, infinite and NaN medians of LossNotDecreasing") {
  const auto finding = [](const std::vector<float>& quarters) {
    const RuleResult result = evaluate(observed(quarters), "LossNotDecreasing", {{"num_steps", "1"}});
    CHECK(result.steps_evaluated == 1);
    return result.findings.empty() ? std::nullopt : std::optional(result.findings[0].value);
  };
  CHECK(finding({1, 1, 0, 0}) == 0);
  CHECK(finding({1, 1, 0, 1}) == -std::numeric_limits<double>::infinity());
  CHECK(finding({1, 1, 0, -1}) == std::nullopt);
  CHECK(finding({1, 1, inf, inf}) == 0);
  CHECK(finding({1, 1, inf, 1}) == std::nullopt);
  CHECK(finding({1, 1, 1, inf}) == -std::numeric_limits<double>::infinity());
  CHECK(finding({1, 1, -1, -2}) == std::nullopt);  // a fall by 100 percent
  CHECK(finding({1, 1, nan, 1}) == std::nullopt);
  CHECK(std::isnan(finding({1, 1, 1, nan}).value_or(0)));
}

TEST_CASE("LossNotDecreasing warns of the newest losses, which no check compared, if they would trigger") {
  // Checks at n = 8, 10 and 12, and the next is at 15.
  const auto job = [](const std::vector<float>& newest) {
    std::vector<float> losses = {14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3};
    losses.insert(losses.end(), newest.begin(), newest.end());
    return observed(losses);
  };
  const ParameterTexts two = {{"num_steps", "2"}};
  const auto warned = [&](MemoryTrial ended) {
    const RuleResult result = evaluate(ended.end(), "LossNotDecreasing", two);
    CHECK(result.status == RuleStatus::no_issues_found);
    CHECK(result.steps_evaluated == 3);
    CHECK(result.doubtful == !result.warnings.empty());
    CHECK(evaluate(ended, "LossNotDecreasing", two, {.keep_going = true, .follow = true}).warnings == result.warnings);
    return result.warnings;
  };
  CHECK(warned(job({})).empty());
  CHECK(warned(job({1, 1})).empty());
  // n = 14: floor(14 / 2) = 7 to floor(42 / 4) = 10, and to 14: (7, 6, 5) and (4, 3, 9, 9): medians 6 and 6.5
  CHECK(warned(job({9, 9})) ==
        Texts{"the last check was before the newest 2 of 14 values; with them, run/loss: decrease_percent "
              "-8.33333 < threshold 0.1, from a median of 6 (steps 49 to 81) to 6.5 (steps 100 to 169)"});
  // n = 13: 6 to 9, and to 13: (8, 7, 6) and one of NaN
  CHECK(warned(job({nan})) ==
        Texts{"the last check was before the newest 1 of 13 values; with them, run/loss: decrease_percent "
              "is NaN (threshold 0.1), from a median of 7 (steps 36 to 64) to nan (steps 81 to 144)"});
  CHECK(evaluate(job({nan}), "LossNotDecreasing", two).warnings.empty());  // the job may go on
  // The first 14 values again, of a range that ends after step 169, whether the job goes on or not.
  MemoryTrial longer = job({9, 9, 1, 1});
  const EvaluationOptions range{.end = GlobalStep(170), .keep_going = true};
  const Texts of_range = evaluate(longer, "LossNotDecreasing", two, range).warnings;
  CHECK(of_range == warned(job({9, 9})));
  CHECK(evaluate(longer.end(), "LossNotDecreasing", two, range).warnings == of_range);
  // n = 15: (7, 6, 5, 4) and (3, 9, 9, 9) trigger; what follows says nothing new
  const RuleResult known = evaluate(job({9, 9, 9, nan}).end(), "LossNotDecreasing", two);
  CHECK(triggered_at(known) == Steps{196});
  CHECK(known.warnings.empty());
}

TEST_CASE("LossNotDecreasing warns of losses that rise, if they are too few for a check") {
  const auto result_of = [](const std::vector<float>& losses, bool ended) {
    MemoryTrial job = observed(losses);
    return evaluate(ended ? job.end() : job, "LossNotDecreasing", {{"num_steps", "3"}});
  };
  // n = 8: 4 to 6, and to 8: (1, 2) and (4, 8): medians 1.5 and 6
  const RuleResult rise = result_of({1, 1, 1, 1, 1, 2, 4, 8}, true);
  CHECK(rise.status == RuleStatus::not_evaluated);
  CHECK(rise.doubtful);
  CHECK(
      rise.warnings ==
      Texts{
          "8 values are too few for a check, which needs 12 (4 * num_steps), but the newest rise or are NaN: run/loss: "
          "decrease_percent -300 < threshold 0.1, from a median of 1.5 (steps 16 to 25) to 6 (steps 36 to 49)"});
  CHECK(warns(result_of({1, 1, 1, 1, 1, 1, 1, nan}, true), "run/loss: decrease_percent is NaN"));
  CHECK(result_of({1, 1, 1, 1, 1, 2, 4, 8}, false).warnings.empty());    // the job may go on
  CHECK_FALSE(result_of({1, 1, 1, 1, 2, 2, 2, 2.125F}, true).doubtful);  // by 3 percent
  CHECK_FALSE(result_of({8, 8, 4, 4, 1, 1, 2, 2}, true).doubtful);       // lower than they began
  CHECK_FALSE(result_of({1, 1, 1, 1, 2, 4, 8}, true).doubtful);          // of so few nothing is said
  // Where there are several workers, one is named.
  MemoryTrial two = observed({1, 1, 1, 1, 1, 2, 4, 8});
  for (const std::int64_t step : {0, 1, 4, 9, 16, 25, 36, 49}) {
    two.elements(step, "loss", {1}, {}, "worker_1");
  }
  CHECK(warns(evaluate(two.end(), "LossNotDecreasing", {{"num_steps", "3"}}),
              "but the newest rise or are NaN: worker_0: run/loss: decrease_percent -300 < threshold 0.1"));
}

TEST_CASE("LossNotDecreasing warns of newest losses that explode, though their quarter does not rise") {
  const auto result_of = [](std::size_t n, const std::vector<float>& newest, float first) {
    std::vector<float> losses = {first};
    while (losses.size() + newest.size() < n) {
      losses.push_back(100.0F - static_cast<float>(losses.size()));
    }
    losses.insert(losses.end(), newest.begin(), newest.end());
    return evaluate(observed(losses).end(), "LossNotDecreasing", {}, {.keep_going = true});
  };
  const auto doubts = [&](std::size_t n, const std::vector<float>& newest, float first = 100) {
    const RuleResult result = result_of(n, newest, first);
    CHECK(result.findings.empty());
    return result.doubtful;
  };
  // Checks are at n = 40, 50, 62 and 77. Of 60 values, 30 to 44 are 70 to 56, and the newest five are 55 to 59.
  const RuleResult exploded = result_of(60, {500, 600, 700, 800}, 100);
  CHECK(exploded.status == RuleStatus::no_issues_found);
  CHECK(exploded.doubtful);
  CHECK(exploded.warnings == Texts{"run/loss: of the 5 values from step 3025 on, most are far above those before"});
  CHECK(doubts(77, {500, 600, 700, 800}));              // at the last value there was a check, which passed
  CHECK(doubts(39, {500, 600, nan, 700}));              // too few for a check
  CHECK(doubts(60, {500, 600, inf}));                   // three of five
  CHECK_FALSE(doubts(60, {1e9F, 1e9F}));                // spikes
  CHECK_FALSE(doubts(60, {90, 90, 90, 90, 90}));        // above 70 by less than three times what 70 is above the median
  CHECK_FALSE(doubts(60, {500, 500, 500, 500}, 1e6F));  // nearer to the median, as after a restart of the learning rate
  // Nearer to 63, the median, but more than ten times 70. The square root of 63 * 10000 is 794.
  CHECK(doubts(60, {710, 710, 710}, 5000));
  CHECK_FALSE(doubts(60, {690, 690, 690}, 5000));
  CHECK(doubts(60, {800, 800, 800}, 10000));
  CHECK_FALSE(doubts(60, {780, 780, 780}, 10000));
  // The newest quarter of 39 rises by 3 percent, which alone is nothing to warn of.
  std::vector<float> rises(29, 1);
  rises.insert(rises.end(), {1.03F, 1.03F, 1.03F, 1.03F, 1.03F, 1.03F, 500, 500, 500, 500});
  CHECK(warns(evaluate(observed(rises).end(), "LossNotDecreasing"), "run/loss: of the 5 values from step 1156 on"));
}

TEST_CASE("LossNotDecreasing warns of newest losses that are all one number") {
  // Losses that fall by a third, but for the newest.
  const auto losses_of = [](std::size_t n, std::size_t newest, float frozen) {
    std::vector<float> losses;
    for (std::size_t i = 0; i < n; ++i) {
      losses.push_back(i < n - newest ? 100 - static_cast<float>(i) / 3 : frozen);
    }
    return losses;
  };
  const auto warnings = [](MemoryTrial ended) {
    const RuleResult result = evaluate(ended.end(), "LossNotDecreasing");
    CHECK(result.status == RuleStatus::no_issues_found);
    CHECK(result.doubtful == !result.warnings.empty());
    return result.warnings;
  };
  const auto frozen = [](const std::string& loss, const std::string& step) {
    return Texts{loss + " from step " + step + " on; has training stopped, or is the loss clipped?"};
  };
  CHECK(warnings(observed(losses_of(60, 10, 70.34375F))) == frozen("run/loss is exactly 70.34375", "2500"));
  CHECK(warnings(observed(losses_of(200, 20, 39.34375F))) == frozen("run/loss is exactly 39.34375", "32400"));
  CHECK(warnings(observed(losses_of(60, 9, 70.34375F))).empty());
  CHECK(warnings(observed(losses_of(200, 19, 39.34375F))).empty());                               // less than a tenth
  CHECK(evaluate(observed(losses_of(60, 10, 70.34375F)), "LossNotDecreasing").warnings.empty());  // the job may go on
  const Texts zero = warnings(observed(losses_of(60, 10, 0)));
  REQUIRE(zero.size() == 1);
  CHECK(says(zero[0], "logging_nan_inf_filter"));
  std::vector<float> rounded = losses_of(60, 10, 70.34F);
  for (float& loss : rounded) {
    loss = std::round(loss * 100) / 100;
  }
  CHECK(warnings(observed(rounded)).empty());
  // Where earlier losses are repeated too, as those of an epoch at each of its steps, one more is nothing special.
  std::vector<float> repeated = losses_of(60, 10, 70.34375F);
  for (std::size_t i = 0; i < 50; i += 10) {
    repeated[i + 1] = repeated[i];
  }
  CHECK(warnings(observed(repeated)).empty());
  MemoryTrial workers = observed(losses_of(60, 0, 0));
  for (std::int64_t i = 0; i < 60; ++i) {
    const float loss = i < 45 ? 100 - static_cast<float>(i) / 3 : 70.34375F;
    workers.elements(i * i, "loss", {loss}, {}, "worker_1");
  }
  CHECK(warnings(workers) == frozen("worker_1: run/loss is exactly 70.34375", "2025"));
}

TEST_CASE("LossNotDecreasing names the losses that are too few to be compared") {
  MemoryTrial job = observed({4, 3, 2, 1});
  job.number(0, "eval/loss", 1).number(1, "eval/loss", 1);
  const RuleResult some = evaluate(job, "LossNotDecreasing", {{"num_steps", "1"}});
  CHECK(some.status == RuleStatus::no_issues_found);
  CHECK(
      some.warnings ==
      Texts{"1 loss has fewer than the 4 values (4 * num_steps) from which on losses are compared: run/eval/loss (2)"});
  const RuleResult none = evaluate(job, "LossNotDecreasing");
  CHECK(none.status == RuleStatus::not_evaluated);
  CHECK(none.message ==
        "nothing was evaluated: 2 losses have fewer than the 40 values (4 * num_steps) from which on losses are "
        "compared: run/eval/loss (2), run/loss (4)");
  CHECK(none.warnings.empty());
  job.number(0, "loss", 1, Dtype::float32, "worker_1");
  CHECK(says(evaluate(job, "LossNotDecreasing").message, "worker_0: run/loss (4), worker_1: run/loss (1)"));
}

TEST_CASE("LossNotDecreasing takes the names of a side") {
  MemoryTrial job;
  for (std::int64_t step = 0; step < 40; step += 10) {
    job.number(step, "train/loss", 1).number(step, "eval/loss", 1).number(step, "aux_loss", 1);
  }
  const auto tensors = [&](const std::string& mode) {
    Texts names;
    for (const Finding& finding : evaluate(job, "LossNotDecreasing", {{"mode", mode}, {"num_steps", "1"}}).findings) {
      CHECK(finding.step == GlobalStep(30));
      names.push_back(*finding.tensor);
    }
    return names;
  };
  CHECK(tensors("TRAIN") == Texts{"run/train/loss"});
  CHECK(tensors("EVAL") == Texts{"run/eval/loss"});
  CHECK(tensors("GLOBAL") == Texts{"run/aux_loss", "run/eval/loss", "run/train/loss"});
  CHECK(tensors("") == Texts{"run/aux_loss", "run/eval/loss", "run/train/loss"});
  MemoryTrial other;
  other.number(0, "loss", 1).number(10, "loss", 1);
  const RuleResult none = evaluate(other, "LossNotDecreasing", {{"mode", "EVAL"}});
  CHECK(none.status == RuleStatus::not_evaluated);
  CHECK(says(none.message, "EVAL"));
  const RuleResult mode = evaluate(
      other, "Threshold",
      {{"mode", "TRAIN"}, {"tensor_regex", "loss"}, {"reduction", "max"}, {"operator", ">"}, {"threshold", "0"}});
  CHECK(says(mode.message, "the steps of this trial have no modes"));
  const RuleResult late = evaluate(other, "Overfit", {{"start_step", "11"}});
  CHECK(late.message == "nothing was evaluated: no step of the trial is in range");
}

TEST_CASE("steps and distances as large as they may be") {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  MemoryTrial job;
  job.number(0, "loss", 4).number(1, "loss", 3).number(last - 1, "loss", 2).number(last, "loss", 1);
  CHECK(evaluate(job, "LossNotDecreasing", {{"num_steps", "1"}}).steps_evaluated == 1);
  const RuleResult none = evaluate(job, "LossNotDecreasing", {{"num_steps", std::to_string(last)}});
  CHECK(none.status == RuleStatus::not_evaluated);
}

TEST_CASE("a loss that is exactly 0 after positive ones is a warning") {
  MemoryTrial job;
  job.number(0, "train/loss", 0).number(0, "eval/loss", 1);
  const RuleResult from_the_start = evaluate(job, "LossNotDecreasing");
  CHECK(from_the_start.warnings.empty());
  job.number(10, "train/loss", 1).number(20, "train/loss", 0).number(30, "train/loss", 0).number(30, "eval/loss", 1);
  for (const char* const rule : {"LossNotDecreasing", "Overfit"}) {
    const RuleResult result = evaluate(job, rule);
    CHECK(warns(result, "run/train/loss is exactly 0 at step 20"));
    CHECK(warns(result, "logging_nan_inf_filter"));
    CHECK(result.warnings.size() == 1);
  }
  RuleTrial debugger(RuleTrial::Collections{{"losses", {"loss"}}});
  debugger.step(0, {{"loss", {1}}}).step(10, {{"loss", {0}}});
  CHECK(debugger.run("LossNotDecreasing").warnings.empty());
}

TEST_CASE("pairs can be said where steps have modes") {
  RuleTrial trial(RuleTrial::Collections{{"losses", {"loss"}}});
  trial.step(0, Mode::train, 0, {{"fit_loss", {1}}, {"check_loss", {50}}});
  trial.step(1, Mode::eval, 0, {{"fit_loss", {50}}, {"check_loss", {2}}});
  trial.step(2, Mode::predict, 0, {{"fit_loss", {50}}, {"check_loss", {50}}});
  const RuleResult result = trial.run("Overfit", {{"pairs", "fit_loss:check_loss"}});
  CHECK(triggered_at(result) == Steps{1});
  CHECK(values(result) == std::vector<double>{1});  // (2 - 1) / 1
  CHECK(result.pairs == TensorPairs{{"fit_loss", "check_loss"}});
}

// --- histograms

/// Of values that the trial does not have, with buckets (left, right, count).
void add_histogram(MemoryTrial& job, std::int64_t step, const std::string& name, float min, float max,
                   const std::vector<float>& buckets) {
  job.elements(step, saved("min", name), {min}).elements(step, saved("max", name), {max});
  job.elements(step, saved("histogram", name), buckets, {static_cast<std::int64_t>(buckets.size() / 3), 3});
}

TEST_CASE("what a mean of absolute values is at most") {
  MemoryTrial job;
  // 3 elements at most 0.5, the outer edge being cut to min, and 1 at most 0.25: (3 * 0.5 + 0.25) / 4 = 0.4375
  add_histogram(job, 0, "grad_a", -0.5F, 0.25F, {-8, 0, 3, 0, 0.25F, 1, 0.25F, INFINITY, 0});
  const RuleResult result = evaluate(job, "VanishingGradient", {{"threshold", "0.4376"}});
  CHECK(values(result) == std::vector<double>{0.4375});
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].message == "run/grad_a: abs_mean at most 0.4375 < threshold 0.4376");
  CHECK(evaluate(job, "VanishingGradient", {{"threshold", "0.4375"}}).status == RuleStatus::no_issues_found);
  // with NaN among the elements nothing is known to be small
  add_histogram(job, 1, "grad_a", nan, nan, {-1e-9F, 1e-9F, 4});
  const RuleResult with_nan = evaluate(job, "VanishingGradient");
  CHECK(with_nan.findings.empty());
  CHECK(with_nan.steps_evaluated == 2);
}

TEST_CASE("Threshold takes the bound that can meet its condition") {
  MemoryTrial job;
  // at most as above; at least: 3 in [-0.5, -0.125] and 1 in [-0.125, 0.25], which has 0: (3 * 0.125 + 0) / 4 = 0.09375
  add_histogram(job, 0, "grad_a", -0.5F, 0.25F, {-0.5F, -0.125F, 3, -0.125F, 0.25F, 1});
  const auto run = [&](const std::string& relation, const std::string& threshold) {
    return evaluate(job, "Threshold",
                    {{"reduction", "abs_mean"},
                     {"collection_names", "gradients"},
                     {"operator", relation},
                     {"threshold", threshold}});
  };
  CHECK(values(run("<", "1")) == std::vector<double>{0.4375});
  CHECK(values(run(">", "0")) == std::vector<double>{0.09375});
  CHECK(run(">", "0").findings.front().message == "run/grad_a: abs_mean at least 0.09375 > threshold 0");
  CHECK(run("==", "0.25").status == RuleStatus::not_evaluated);
}

TEST_CASE("what needs raw values is not evaluated on histograms, and says so") {
  MemoryTrial job;
  for (std::int64_t step = 0; step < 3; ++step) {
    add_histogram(job, step, "grad_a", 0, 1, {0, 1, 4});
  }
  const ParameterTexts gradients = {{"tensor_regex", "grad"}};
  for (const auto& [rule, parameters] : std::vector<std::pair<std::string, ParameterTexts>>{
           {"DeadRelu", gradients},
           {"UnchangedTensor", gradients},
           {"NLPSequenceRatio", gradients},
           {"TensorVariance", {{"tensor_regex", "grad"}, {"max_threshold", "0"}}},
           {"AllZero", {{"tensor_regex", "grad"}, {"threshold", "50"}}}}) {
    const std::string& tried = rule;  // structured bindings cannot be captured
    CAPTURE(tried);
    const RuleResult result = evaluate(job, rule, parameters);
    CHECK(result.status == RuleStatus::not_evaluated);
    CHECK(says(result.message, "only histograms were saved"));
  }
}

TEST_CASE("a weight of which all saved histograms are the same, while others change, is a warning") {
  const auto warnings = [](std::int64_t steps, float change) {
    RuleTrial trial(RuleTrial::Collections{{"weights", {"^weights/"}}});
    for (std::int64_t step = 0; step < steps; ++step) {
      const float moved = change * static_cast<float>(step);
      RuleTrial::Tensors tensors;
      for (const auto& [name, l2] : RuleTrial::Tensors{{"weights/0.weight", {2 + moved}},
                                                       {"weights/1.weight", {3}},
                                                       {"weights/1.bias", {0}},
                                                       {"weights/1.running_mean", {1}}}) {
        tensors.emplace_back(saved("histogram", name), std::vector<float>{-1, 1, 4});
        tensors.emplace_back(saved("l2", name), l2);
      }
      tensors.emplace_back(saved("l2", "weights/2.weight"), std::vector<float>{1});  // rounded, without a histogram
      trial.step(step, tensors);
    }
    const RuleResult result = trial.run("WeightUpdateRatio");
    CHECK(result.status == RuleStatus::not_evaluated);
    CHECK(result.doubtful != result.warnings.empty());
    CHECK(says(result.message, "only histograms were saved"));
    return result.warnings;
  };
  CHECK(warnings(3, 1) == Texts{"other weights change, but by their saved histograms these never do; are they frozen? "
                                "weights/1.weight"});
  CHECK(warnings(2, 1).empty());
  CHECK(warnings(3, 0).empty());
}

TEST_CASE("whether a weight never changes is asked of each worker by itself") {
  const auto warnings = [](std::int64_t steps) {
    RuleTrial trial(RuleTrial::Collections{{"weights", {"^weights/"}}}, 2);
    for (std::int64_t step = 0; step < steps; ++step) {
      for (const int worker : {0, 1}) {
        BuiltStep built{.step = step, .worker = "worker_" + std::to_string(worker), .mode = Mode::global};
        built.mode_step = step;
        const auto l2 = static_cast<float>(2 + worker);  // a part of the weight on each worker
        built.tensors = {{saved("histogram", "weights/0.weight"), {-1, 1, 4}},
                         {saved("l2", "weights/0.weight"), {l2 + static_cast<float>(step)}},
                         {saved("histogram", "weights/1.weight"), {-1, 1, 4}},
                         {saved("l2", "weights/1.weight"), {l2}}};
        trial.step(built);
      }
    }
    return trial.run("WeightUpdateRatio").warnings;
  };
  CHECK(warnings(3) == Texts{"other weights change, but by their saved histograms these never do; are they frozen? "
                             "weights/1.weight"});
  CHECK(warnings(2).empty());
}

TEST_CASE("ExplodingTensor passes over the infinite best value with which a program begins") {
  const auto triggered = [](const std::string& name, float first, float second) {
    const RuleResult result =
        evaluate(MemoryTrial().elements(0, name, {first}).elements(1, name, {second}), "ExplodingTensor");
    CHECK(result.steps_evaluated == 2);
    return triggered_at(result);
  };
  CHECK(triggered("best_loss", INFINITY, 2).empty());
  CHECK(triggered("val/bestScore", -INFINITY, 2).empty());
  CHECK(triggered("best_loss", INFINITY, INFINITY) == Steps{1});
  CHECK(triggered("best_loss", 2, INFINITY) == Steps{1});
  CHECK(triggered("best_loss", NAN, 2) == Steps{0});
  CHECK(triggered("loss", INFINITY, 2) == Steps{0});
  CHECK(triggered_at(evaluate(MemoryTrial().elements(0, "best", {INFINITY, 2}), "ExplodingTensor")) == Steps{0});
}

TEST_CASE("a histogram that is missing where its siblings were saved is a warning") {
  MemoryTrial job;
  for (std::int64_t step = 0; step < 6; ++step) {
    add_histogram(job, step, "a/grad", -1, 1, {-1, 1, 4});
    if (step < 3) {
      add_histogram(job, step, "b/grad", -1, 1, {-1, 1, 4});
    }
    if (step % 2 == 0) {  // saved less often throughout
      add_histogram(job, step, "c/grad", -1, 1, {-1, 1, 4});
    }
    add_histogram(job, step, "d/kernel", -1, 1, {-1, 1, 4});  // of another kind
    if (step == 0) {
      add_histogram(job, step, "e/initial", -1, 1, {-1, 1, 4});
    }
  }
  const RuleResult result = evaluate(job, "ExplodingTensor");
  CHECK(result.warnings ==
        Texts{"run/b/grad has no histogram at step 3 and 2 more at which its siblings were saved: writers leave out "
              "histograms that are all NaN"});
  CHECK(evaluate(job, "ExplodingTensor", {{"tensor_regex", "kernel,initial"}}).warnings.empty());
  CHECK(evaluate(job, "ExplodingTensor", {}, {.end = GlobalStep(3), .keep_going = true}).warnings.empty());
}

TEST_CASE("all gradients that stop while what was saved with them goes on are a warning") {
  const auto warnings = [](const std::vector<std::int64_t>& gradients, const std::vector<std::int64_t>& others,
                           bool histograms) {
    MemoryTrial job;
    for (const std::int64_t step : gradients) {
      add_histogram(job, step, "a/grad", -1, 1, {-1, 1, 4});
      add_histogram(job, step, "b/grad", -1, 1, {-1, 1, 4});
    }
    for (const std::int64_t step : others) {
      if (histograms) {
        add_histogram(job, step, "a/kernel", -1, 1, {-1, 1, 4});
        job.number(step + 1, "loss", 1);
      } else {
        job.number(step, "loss", 1);
      }
    }
    job.number(100, "test/acc", 1).number(101, "test/f1", 1);  // never saved with gradients
    const RuleResult result = evaluate(job, "VanishingGradient");
    CHECK(result.status == RuleStatus::no_issues_found);
    CHECK(result.doubtful == !result.warnings.empty());
    return result.warnings;
  };
  const auto gone = [](const std::string& step) {
    return Texts{"run/a/grad has no histogram at step " + step +
                 " and 1 more at which its siblings were saved (likewise 1 other tensor): writers leave out histograms "
                 "that are all NaN"};
  };
  for (const bool histograms : {true, false}) {
    CAPTURE(histograms);
    CHECK(warnings({0, 2}, {0, 2, 4, 6}, histograms) == gone("4"));
    CHECK(warnings({2, 4}, {0, 2, 4, 6, 8}, histograms) == gone("6"));  // evaluated before the first update
    CHECK(warnings({0, 2}, {0, 2, 4}, histograms).empty());             // the job may be writing the step
    CHECK(warnings({0}, {0, 2, 4, 6}, histograms).empty());             // saved once
    CHECK(warnings({0, 4}, {0, 2, 4, 6, 8}, histograms).empty());       // saved less often
    CHECK(warnings({0, 2, 6}, {0, 2, 4, 6, 8}, histograms).empty());
  }
}

// --- all rules

TEST_CASE("every built-in rule ends with a sensible result") {
  MemoryTrial job = small_job();
  job.number(0, "zero", 0).number(1, "zero", 0);
  for (std::int64_t step = 0; step < 3; ++step) {
    add_histogram(job, step, "grad_a", 0, 1, {0, 1, 4});
    job.elements(step, "weights", {1, 2});
    job.elements(step, "labels", {0, 1}).elements(step, "predictions", {0, 1});
  }
  Script script;
  const Trial other = job.open(script);
  for (const RuleDescription& rule : rule_descriptions()) {
    INFO(rule.name);
    ParameterTexts parameters;
    const auto has = [&](const char* name) {
      return std::any_of(rule.parameters.begin(), rule.parameters.end(),
                         [&](const ParameterSpec& spec) { return spec.name == name; });
    };
    if (has("collection_names") && rule.name != "LossNotDecreasing") {
      parameters["tensor_regex"] = "grad,zero,loss";
    }
    if (rule.other_trials > 0) {
      parameters["other_trial"] = "memory";
    }
    if (has("max_threshold")) {
      parameters["max_threshold"] = "1e9";
    }
    if (rule.name == "Threshold") {
      parameters.insert({{"reduction", "max"}, {"operator", ">"}, {"threshold", "1e9"}});
    }
    const Trial trial = job.open(script);
    const RuleResult result =
        result_of(trial, make_rule(rule.name, parameters), {.keep_going = true, .now = [] { return 1010.0; }},
                  rule.other_trials > 0 ? std::vector<const Trial*>{&other} : std::vector<const Trial*>{});
    CHECK(result.status != RuleStatus::error);
    CHECK(result.status != RuleStatus::in_progress);
    CHECK((result.steps_evaluated == 0) == (result.status == RuleStatus::not_evaluated));
    for (const Finding& finding : result.findings) {
      CHECK(finding.mode == Mode::global);
    }
  }
}

}  // namespace
TEST_CASE("rules on numbers, bare elements and records") {
  // The loss of steps 0 to 9 as a number, every fifth step weights as bare elements and a gradient as a record.
  Script script;
  MemoryTrial job;
  for (std::int64_t step = 0; step < 10; ++step) {
    job.number(step, "loss", 10 - static_cast<double>(step));
    if (step % 5 == 0) {
      const auto base = static_cast<float>(step);
      job.elements(step, "weights", {base, base + 1, base + 2, base + 3}, {2, 2});
      job.record(step, "gradient", {base, -base});
    }
  }
  SUBCASE("a loss that falls, and sound values") {
    const Trial trial = job.open(script);
    Evaluator evaluator(trial, {.keep_going = true});
    evaluator.add(make_rule("LossNotDecreasing", {{"num_steps", "2"}}));
    evaluator.add(make_rule("ExplodingTensor"));
    evaluator.run();
    CHECK(evaluator.results()[0].status == RuleStatus::no_issues_found);
    CHECK(evaluator.results()[0].steps_evaluated > 0);
    CHECK(evaluator.results()[1].status == RuleStatus::no_issues_found);
    CHECK(evaluator.results()[1].steps_evaluated == 10);
    CHECK(evaluator.results()[1].tensors_matched == 3);
  }
  SUBCASE("a loss that stands still, and values that are no numbers") {
    for (std::int64_t step = 10; step < 18; ++step) {
      job.number(step, "loss", 1);
    }
    job.elements(12, "weights", {1, std::numeric_limits<float>::infinity()});
    job.record(13, "gradient", {std::numeric_limits<float>::quiet_NaN()});
    const Trial trial = job.open(script);
    Evaluator evaluator(trial, {.keep_going = true});
    evaluator.add(make_rule("LossNotDecreasing", {{"num_steps", "1"}}));
    evaluator.add(make_rule("ExplodingTensor"));
    evaluator.run();
    const RuleResult& loss = evaluator.results()[0];
    CHECK(loss.status == RuleStatus::issues_found);
    // steps 13 to 17 compared with steps 9 to 12
    CHECK(found(loss) == Texts{"17 run/loss worker_0 decrease_percent 0"});
    CHECK(found(evaluator.results()[1]) ==
          Texts{"12 run/weights worker_0 non_finite 1", "13 run/gradient worker_0 non_finite 1"});
  }
}

}  // namespace smd::test
