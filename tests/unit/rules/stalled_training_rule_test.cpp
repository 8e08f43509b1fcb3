// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

namespace smd::test {
namespace {

RuleTrial& at(RuleTrial& trial, std::int64_t step, double time, const std::string& worker = "worker_0") {
  return trial.step({.step = step, .worker = worker, .mode_step = step, .tensors = {{"loss", {1}}}, .wall_time = time});
}

TEST_CASE("a gap of exactly the threshold triggers at the step before it") {
  RuleTrial trial;
  at(trial, 0, 1000);
  at(trial, 5, 1010);
  at(trial, 10, 1020.5);
  const RuleResult result = trial.run("StalledTrainingRule", {{"threshold", "10"}});
  REQUIRE(found(result) == Texts{"0 - - seconds 10", "5 - - seconds 10.5"});
  CHECK(result.findings[0].mode == Mode::train);
  CHECK(result.findings[1].mode_step == ModeStep(5));
  CHECK(result.steps_evaluated == 2);
  CHECK(triggered_at(trial.run("StalledTrainingRule", {{"threshold", "11"}})).empty());
}

TEST_CASE("the latest record of all workers is the time of a step") {
  RuleTrial trial({}, 2);
  at(trial, 0, 1000, "worker_0");
  at(trial, 0, 1009, "worker_1");
  at(trial, 1, 1018, "worker_0");
  at(trial, 1, 1002, "worker_1");
  CHECK(trial.run("StalledTrainingRule", {{"threshold", "10"}}).findings.empty());
  CHECK(trial.run("StalledTrainingRule", {{"threshold", "9"}}).findings.size() == 1);
}

TEST_CASE("without an end marker, the time since the last step counts") {
  RuleTrial trial;
  at(trial.running(), 0, 1000);
  const auto now = [](double time) { return EvaluationOptions{.keep_going = true, .now = [time] { return time; }}; };
  const RuleResult late = trial.run("StalledTrainingRule", {{"stop_training_on_fire", "True"}}, now(2800));
  CHECK(found(late) == Texts{"0 - - seconds 1800"});
  CHECK(late.steps_evaluated == 1);
  REQUIRE(late.warnings.size() == 1);
  CHECK(late.warnings[0].starts_with("StopTraining was asked for and was not performed"));
  CHECK(trial.run("StalledTrainingRule", {}, now(2799)).findings.empty());
  EvaluationOptions cut = now(9999);
  cut.end = GlobalStep(0);
  CHECK(trial.run("StalledTrainingRule", {}, cut).status == RuleStatus::not_evaluated);
}

TEST_CASE("a newest step whose event file is not there yet is a sign of life") {
  RuleTrial trial;
  at(trial.running(), 0, 1000);
  at(trial, 1, 1500);
  const std::filesystem::path root = trial.builder().root();
  std::filesystem::remove_all(root / "events/000000000001");
  // 1970-01-01 00:25:00 UTC
  const timespec written{.tv_sec = 1500, .tv_nsec = 0};
  const std::array<timespec, 2> times{written, written};
  for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
    REQUIRE(::utimensat(AT_FDCWD, file.path().c_str(), times.data(), 0) == 0);
  }
  const auto now = [](double time) { return EvaluationOptions{.keep_going = true, .now = [time] { return time; }}; };
  CHECK(trial.run("StalledTrainingRule", {}, now(3299)).findings.empty());
  CHECK(found(trial.run("StalledTrainingRule", {}, now(3300))) == Texts{"1 - - seconds 1800"});
}

TEST_CASE("following: the clock starts with the rule, restarts with new data, triggers once between") {
  RuleTrial trial;
  trial.running();
  at(trial, 0, 1000);
  const Trial opened = trial.open();
  std::vector<double> seconds;
  Evaluator evaluator(opened,
                      {.keep_going = true, .follow = true, .on_finding = [&](std::size_t, const Finding& found) {
                         seconds.push_back(found.value);
                       }});
  evaluator.add(make_rule("StalledTrainingRule", {{"threshold", "60"}}));
  evaluator.tick(100, false);
  evaluator.tick(159.5, false);
  CHECK(seconds.empty());
  evaluator.tick(160, false);  // nothing at all yet: no step
  REQUIRE(seconds == std::vector<double>{60});
  CHECK_FALSE(evaluator.results()[0].findings[0].step.has_value());
  evaluator.tick(500, false);  // once is enough
  evaluator.offer();
  evaluator.tick(510, true);
  evaluator.tick(569, false);
  CHECK(seconds.size() == 1);
  evaluator.tick(571, false);
  REQUIRE(seconds == std::vector<double>{60, 61});
  CHECK(evaluator.results()[0].findings[1].step == GlobalStep(0));
  CHECK(evaluator.results()[0].status == RuleStatus::in_progress);
  evaluator.finish();
  CHECK(evaluator.results()[0].status == RuleStatus::issues_found);
}

TEST_CASE("following: gaps are counted as after the fact, each once") {
  RuleTrial trial;
  for (std::int64_t step = 0; step < 3; ++step) {
    at(trial, step, 1000);
  }
  for (const bool fires : {false, true}) {
    CAPTURE(fires);
    const Trial opened = trial.open();
    Evaluator evaluator(opened, {.keep_going = true, .follow = true});
    evaluator.add(make_rule("StalledTrainingRule", {{"threshold", "60"}}));
    for (std::int64_t step = 0; step < 3; ++step) {
      evaluator.offer(GlobalStep(step));
      evaluator.tick(100.0 * static_cast<double>(step), true);
      evaluator.tick(100.0 * static_cast<double>(step) + (fires && step == 1 ? 60 : 59), false);
    }
    evaluator.finish();
    const RuleResult& result = evaluator.results().front();
    CHECK(result.findings.size() == (fires ? 1 : 0));
    CHECK(result.steps_evaluated == 2);
    CHECK(result.first_step == GlobalStep(1));
    CHECK(result.last_step == GlobalStep(fires ? 1 : 2));
  }
  CHECK(trial.run("StalledTrainingRule").steps_evaluated == 2);
}

}  // namespace
}  // namespace smd::test
