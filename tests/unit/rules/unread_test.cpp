// SPDX-License-Identifier: Apache-2.0
// What a rule asked for and could not read never passes for healthy.
#include "rule_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace smd::test {
namespace {

const RuleTrial::Collections gradients_and_losses = {{"gradients", {"^gradient"}}, {"losses", {"^loss"}}};

std::string events(RuleTrial& trial, std::int64_t step) {
  return trial.builder().root() + "/" + events_path(step, "worker_0");
}

TEST_CASE("a record that is cut is an error, whether the job runs or not, and hides what it held") {
  for (const bool running : {false, true}) {
    CAPTURE(running);
    RuleTrial trial;
    trial.step(0, {{"w", {1}}}).step(1, {{"w", {1}}}).step(2, {{"w", {nan}}});
    if (running) {
      trial.running();
    }
    std::filesystem::resize_file(events(trial, 2), 20);
    const RuleResult result = trial.run("ExplodingTensor");
    CHECK(result.status == RuleStatus::error);
    CHECK(result.unread);
    CHECK(result.records_unread == 1);
    CHECK(
        result.message.starts_with("2 of 3 steps evaluated; 1 record could not be read: "
                                   "events/000000000002/000000000002_worker_0.tfevents: byte 0: the file has 20 "));
    CHECK(result.first_step == GlobalStep(0));
    CHECK(result.last_step == GlobalStep(1));
    REQUIRE(result.problems.size() == 1);
    CHECK(result.problems[0].kind == (running ? ProblemKind::not_yet : ProblemKind::damaged));
  }
}

TEST_CASE("a missing event file likewise; its records are counted, its problem is reported once") {
  for (const bool running : {false, true}) {
    CAPTURE(running);
    RuleTrial trial(gradients_and_losses);
    for (std::int64_t step = 0; step < 3; ++step) {
      trial.step(step, {{"gradient/a", {1}}, {"gradient/b", {1}}});
    }
    if (running) {
      trial.running();
    }
    std::filesystem::remove(events(trial, 2));
    const RuleResult result = trial.run("VanishingGradient");
    CHECK(result.status == RuleStatus::error);
    CHECK(result.message == std::string("2 of 3 steps evaluated; 2 records could not be read: ") +
                                "events/000000000002/000000000002_worker_0.tfevents: the event file is " +
                                (running ? "not there yet" : "missing"));
    CHECK(result.records_unread == 2);
    CHECK(result.problems.size() == 1);
    CHECK(result.steps_skipped == 1);
  }
}

TEST_CASE("a rule that triggered says the same as a warning; one that did not ask says nothing") {
  RuleTrial trial(gradients_and_losses);
  trial.step(0, {{"gradient/a", {0}}, {"loss", {1}}}).step(1, {{"gradient/a", {1}}, {"loss", {0.5F}}});
  std::filesystem::resize_file(events(trial, 1), 20);  // cuts the first record, of gradient/a
  const RuleResult triggered = trial.run("VanishingGradient");
  CHECK(triggered.status == RuleStatus::issues_found);
  CHECK_FALSE(triggered.unread);
  CHECK(triggered.records_unread == 1);
  REQUIRE(triggered.warnings.size() == 1);
  CHECK(triggered.warnings[0].starts_with("1 of 2 steps evaluated; 1 record could not be read: events/"));
  // It stops at step 0, before the record.
  const RuleResult stopped = trial.run("VanishingGradient", {}, EvaluationOptions{});
  CHECK(stopped.records_unread == 0);
  CHECK(stopped.warnings.empty());
  CHECK(trial.run("VanishingGradient", {{"end_step", "1"}}).warnings.empty());
  CHECK(trial.run("Confusion").records_unread == 0);
}

TEST_CASE("a record is unread only for rules that need what could not be read of it") {
  RuleTrial trial;
  trial.step(0, {{"w", {1}}}).step(1, {{"w", {1}}});
  std::fstream file(events(trial, 1), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);  // of the checksum
  file.put('x');
  file.close();
  const Trial opened = trial.open();
  Evaluator together(opened);
  together.add(make_rule("StalledTrainingRule"));
  together.add(make_rule("AllZero", {{"tensor_regex", "w"}}));
  together.run();
  const RuleResult alone = trial.run("StalledTrainingRule");
  CHECK(together.results()[0].status == alone.status);
  CHECK(together.results()[0].records_unread == alone.records_unread);
  CHECK(together.results()[0].steps_evaluated == alone.steps_evaluated);
  CHECK(together.results()[1].records_unread == 1);
}

TEST_CASE("nothing could be read: an error, and not that there was nothing to look at") {
  RuleTrial trial(gradients_and_losses);
  trial.step(0, {{"gradient/a", {1}}});
  std::filesystem::remove(events(trial, 0));
  const RuleResult result = trial.run("VanishingGradient");
  CHECK(result.status == RuleStatus::error);
  CHECK(result.message.starts_with("0 of 1 step evaluated; 1 record could not be read: "));
  CHECK_FALSE(result.first_step.has_value());
  CHECK_FALSE(result.last_step.has_value());
}

TEST_CASE("an index file that cannot be read hides records of its step, for rules that look at it") {
  RuleTrial trial(gradients_and_losses);
  trial.step(0, {{"gradient/a", {1}}}).step(1, {{"gradient/a", {0}}}).step(2, {{"gradient/a", {1}}});
  trial.builder().file(index_path(1, "worker_0"), "{");
  const RuleResult result = trial.run("VanishingGradient");
  CHECK(result.status == RuleStatus::error);
  CHECK(result.records_unread == 1);
  CHECK(result.message.starts_with("2 of 3 steps evaluated; 1 index file could not be read: index/"));
  CHECK(trial.run("VanishingGradient", {{"start_step", "2"}}).status == RuleStatus::no_issues_found);
  CHECK(trial.run("VanishingGradient", {{"end_step", "1"}}).status == RuleStatus::no_issues_found);
}

TEST_CASE("values looked back at count once, however many steps need them") {
  RuleTrial trial;
  for (std::int64_t step = 0; step < 6; ++step) {
    trial.step(step, {{"w", {static_cast<float>(step)}}});
  }
  std::filesystem::remove(events(trial, 2));
  const RuleResult result = trial.run("UnchangedTensor", {{"tensor_regex", "w"}, {"num_steps", "2"}});
  CHECK(result.status == RuleStatus::error);
  CHECK(result.records_unread == 1);
  // 1, 4 and 5 have their window; 2 and 3 need the record; at 0 there is no window yet
  CHECK(result.steps_evaluated == 3);
  CHECK(result.message.starts_with("3 of 5 steps evaluated; 1 record could not be read: "));
}

TEST_CASE("losses of before the start, which are read one by one, count too") {
  RuleTrial trial;
  trial.step(0, {{"z", {1}}}).step(1, {{"z", {1, 2}}}).step(2, {{"z", {1}}}).step(3, {{"z", {0.5F}}});
  std::filesystem::remove(events(trial, 0));
  // At 2 the loss at 1 turns out to be none, and that at 0 is looked up.
  const RuleResult result =
      trial.run("LossNotDecreasing", {{"tensor_regex", "z"}, {"num_steps", "1"}, {"start_step", "2"}});
  CHECK(result.status == RuleStatus::error);
  CHECK(result.records_unread == 1);
  CHECK(result.steps_evaluated == 1);
}

TEST_CASE("records of the other trial, which is named") {
  RuleTrial base;
  RuleTrial other;
  base.step(0, {{"a", {1}}}).step(1, {{"a", {1}}});
  other.step(0, {{"a", {1}}}).step(1, {{"a", {2}}});
  std::filesystem::resize_file(events(other, 1), 20);
  const RuleResult result = base.run("SimilarAcrossRuns", {}, other);
  CHECK(result.status == RuleStatus::error);
  CHECK(result.message.starts_with("1 of 2 steps evaluated; 1 record could not be read: in " + other.builder().root() +
                                   ": events/000000000001/"));
}

TEST_CASE("the range evaluated begins and ends where something was evaluated") {
  RuleTrial base;
  RuleTrial other;
  for (std::int64_t step = 0; step < 10; ++step) {
    base.step(step, {{"a", {1}}});
  }
  for (std::int64_t step = 1; step < 3; ++step) {
    other.step(step, {{"a", {1}}});
  }
  const RuleResult result = base.run("SimilarAcrossRuns", {}, other);
  CHECK(result.status == RuleStatus::no_issues_found);
  CHECK(result.steps_evaluated == 2);
  CHECK(result.first_step == GlobalStep(1));
  CHECK(result.last_step == GlobalStep(2));
}

}  // namespace
}  // namespace smd::test
