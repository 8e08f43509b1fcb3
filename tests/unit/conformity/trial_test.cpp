// SPDX-License-Identifier: Apache-2.0
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

// Steps, modes and workers.
namespace smd::test {
namespace {

StepKey key(Mode mode, std::int64_t number) { return StepKey(mode, ModeStep(number)); }

/// Returns the correct names of workers: in a trial whose path contains `__`, the reference changes them everywhere
/// except in `workers` (docs/format.md), and only the records have the correct ones.
std::map<std::string, std::string> correct_workers(const Recorded& trial) {
  std::map<std::string, std::string> names;
  for_each_record(
      trial, [&](const std::string&, const Json& record) { names[record.at("worker")] = right(record, "worker"); });
  return names;
}

}  // namespace

TEST_CASE("all recorded trials are present") {
  // The README of the recorded trials lists 41. The reference could not open two of them.
  CHECK(recorded_names().size() == 41);
  std::size_t opened = 0;
  for_each_trial([&](const Recorded&, const Trial&) { ++opened; });
  CHECK(opened == 39);
}

TEST_CASE("a new trial and one queried before return the same results") {
  // The reference increases last_complete_step with every query, and notices the end of the job only at the second.
  // libsmd's first result is already final.
  for_each_trial([](const Recorded&, const Trial& opened) {
    const auto before = opened.last_complete_step();
    (void)opened.steps();
    (void)opened.tensor_names();
    CHECK(opened.last_complete_step() == before);
  });
}

TEST_CASE("last complete step and the job's end are as recorded") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    const std::int64_t expected = trial.answers.at("last_complete_step");
    const auto last = opened.last_complete_step();
    CHECK(last.has_value() == (expected >= 0));
    CHECK(last.value_or(GlobalStep(-1)).value == expected);
    CHECK(opened.ended() == trial.answers.at("job_ended").get<bool>());
  });
}

TEST_CASE("steps are as recorded, complete ones and all") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    for (const auto& [mode_key, answers] : trial.answers.at("steps").items()) {
      const auto& mode = mode_key;
      CAPTURE(mode);
      CHECK(numbers(opened.steps(mode_of(mode))) == right(answers, "complete"));
      CHECK(numbers(opened.steps(mode_of(mode), true)) == right(answers, "all"));
    }
    const Json& global = trial.answers.at("steps").at("GLOBAL");
    CHECK(numbers(opened.steps()) == right(global, "complete"));
    CHECK(numbers(opened.steps(true)) == right(global, "all"));
    CHECK(numbers(opened.listed_steps()) == right(global, "all"));
  });
}

TEST_CASE("mode and mode step of each step are as recorded") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    const Json& map = trial.answers.at("step_map");
    REQUIRE(map.size() == opened.steps(true).size());
    for (const Json& row : map) {
      const GlobalStep step(row.at(0));
      CAPTURE(step.value);
      CHECK(opened.mode(step) == mode_of(row.at(1)));
      CHECK(opened.mode_step(step) == ModeStep(row.at(2)));
    }
    CHECK(!opened.mode(GlobalStep(-1)));
    CHECK(!opened.mode_step(GlobalStep(-1)));
  });
}

TEST_CASE("global steps of mode steps are as recorded") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    const Json& by_mode = trial.answers.at("global_steps");
    for (const auto& [mode_key, rows] : by_mode.items()) {
      const auto& mode = mode_key;
      CAPTURE(mode);
      for (const Json& row : rows) {
        CAPTURE(row);
        CHECK(opened.global_step(mode_of(mode), ModeStep(row.at(0))) == GlobalStep(row.at(1)));
      }
      CHECK(rows.size() == opened.steps(mode_of(mode), true).size());
    }
    for (const Mode mode : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
      // In the reference, `global_step(GLOBAL, s)` is s for any s, saved or not.
      CHECK(!opened.global_step(mode, ModeStep(std::int64_t{1} << 40)));
    }
    for (const GlobalStep step : opened.steps(true)) {
      CHECK(opened.global_step(Mode::global, ModeStep(step.value)) == step);
    }
  });
}

TEST_CASE("a mode step used twice has both global steps") {
  // Known from the index files: steps 0 and 3 both say TRAIN 0.
  const Trial trial = recorded("repeats").open();
  CHECK(numbers(trial.global_steps(Mode::train, ModeStep(0))) == Json({0, 3}));
  CHECK(numbers(trial.global_steps(Mode::train, ModeStep(1))) == Json({1}));
  CHECK(trial.global_steps(Mode::eval, ModeStep(0)).empty());
}

TEST_CASE("modes and workers are as recorded") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    Json modes = Json::array();
    for (const Mode mode : opened.modes()) {
      modes.push_back(to_string(mode));
    }
    const Json& recorded_modes = trial.answers.at("modes");
    CHECK(std::set<Json>(modes.begin(), modes.end()) == std::set<Json>(recorded_modes.begin(), recorded_modes.end()));
    CHECK(modes.size() == recorded_modes.size());
    CHECK(Json(opened.workers()) == trial.answers.at("workers"));
    CHECK(opened.num_workers() == trial.answers.at("num_workers").get<std::size_t>());
  });
}

TEST_CASE("workers of each step are as recorded") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    const auto names = correct_workers(trial);
    std::set<std::string> writers;
    const Json& by_step = trial.answers.at("workers_by_step");
    REQUIRE(opened.step_infos().size() == by_step.size());
    for (const StepInfo& info : opened.step_infos()) {
      CAPTURE(info.step.value);
      Json expected = Json::array();
      for (const Json& worker : by_step.at(std::to_string(info.step.value))) {
        expected.push_back(names.at(worker));
        writers.insert(names.at(worker));
      }
      CHECK(Json(info.workers) == expected);
    }
    CHECK(Json(opened.writers()) == Json(writers));
  });
}

TEST_CASE("step rows agree with the recorded steps") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    const Json& map = trial.answers.at("step_map");
    const Json& complete = trial.answers.at("steps").at("GLOBAL").at("complete");
    const auto infos = opened.step_infos();
    REQUIRE(infos.size() == map.size());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      CHECK(Json{infos[i].step.value, to_string(infos[i].mode), infos[i].mode_step.value} == map.at(i));
      const bool is_complete = std::find(complete.begin(), complete.end(), Json(infos[i].step.value)) != complete.end();
      CHECK(infos[i].complete == is_complete);
      const Json& names = trial.answers.at("tensor_names_by_step");
      if (const auto at = names.find(std::to_string(infos[i].step.value)); at != names.end()) {
        CHECK(infos[i].tensors == at->size());
      }
    }
  });
}

TEST_CASE("states of steps are as recorded, also between, before and after the saved ones") {
  std::size_t asked = 0;
  for_each_trial([&](const Recorded& trial, const Trial& opened) {
    for (const auto& [mode_key, states] : trial.answers.at("step_state").items()) {
      const auto& mode = mode_key;
      for (const auto& [number_key, state] : states.items()) {
        const auto& number = number_key;
        INFO(mode, " ", number);
        // `correct` is used where the reference raises KeyError after the end of the job.
        CHECK(Json(to_string(opened.has_passed_step(key(mode_of(mode), std::stoll(number))))) == right(state));
        ++asked;
      }
    }
  });
  CHECK(asked == 1359);  // the number of recorded results
}

}  // namespace smd::test
