// SPDX-License-Identifier: Apache-2.0
// The public snapshot of a trial, and the guard that keeps a thread's queries from refreshing.
#include "memory_layout.hpp"
#include "text/limits.hpp"
#include "trial_support.hpp"

#include <smd/error.hpp>
#include <smd/snapshot.hpp>
#include <smd/trial.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

namespace smd::test {
namespace {

/// Two workers. Step 0 (train 0): both save `b`, worker_1 also its mean. Step 1 (eval 0): worker_0 saves `a` and `b`.
struct Sample {
  Sample() : builder(dir.path()) {
    builder.collections("worker_0", 2).collections("worker_1", 2);
    for (const char* const worker : {"worker_0", "worker_1"}) {
      BuiltStep step{.step = 0, .worker = worker, .tensors = {{"b", {1, 2}}}, .shapes = {}};
      if (step.worker == "worker_1") {
        step.tensors.push_back({reduction_tensor_name("mean", "b"), {1.5F}});
      }
      builder.step(step);
    }
    builder.step({.step = 1, .mode = Mode::eval, .tensors = {{"b", {3}}, {"a", {4}}}, .shapes = {}});
  }

  TempDir dir;
  TrialBuilder builder;
};

std::vector<float> read(const Trial& trial, const TrialSnapshot& snapshot, SavedRow row, std::uint32_t position) {
  std::vector<float> numbers;
  ValueReader reader(trial);
  const Place place = snapshot.place(row, position, snapshot.file(row));
  CHECK(snapshot.bytes(row, position) == place.length);
  CHECK_FALSE(reader.read(place, snapshot.stored_name(row, position), [&](Extent& value) {
    numbers.resize(value.size());
    CHECK(value.read(0, std::as_writable_bytes(std::span(numbers))));
  }));
  return numbers;
}

TEST_CASE("a snapshot tells tensors, steps, rows and records by ids") {
  Sample sample;
  sample.builder.end();
  const Trial trial = Trial::open(sample.dir.path());
  const TrialSnapshot snapshot = TrialSnapshot::take(trial);
  REQUIRE(snapshot.tensors() == 2);
  const std::uint32_t a = snapshot.find_tensor("a").value();
  const std::uint32_t b = snapshot.find_tensor("b").value();
  CHECK(!snapshot.find_tensor("c"));
  CHECK(snapshot.tensor(b) == "b");
  CHECK(std::vector(snapshot.tensors_by_name().begin(), snapshot.tensors_by_name().end()) == std::vector{a, b});
  CHECK(snapshot.tensor_ranks()[a] == 0);
  CHECK(snapshot.tensor_ranks()[b] == 1);
  REQUIRE(snapshot.reductions() == 1);
  CHECK(snapshot.reduction(0) == "mean");
  CHECK(snapshot.collections()->contains("default"));
  CHECK(snapshot.listed_files() == 3);
  CHECK(snapshot.ended());
  CHECK(snapshot.problems().empty());

  const std::vector<SnapshotStep> steps = snapshot.steps();
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].step == GlobalStep(0));
  CHECK(steps[1].mode == Mode::eval);
  CHECK(steps[1].mode_step == ModeStep(0));
  CHECK(steps[1].complete);
  CHECK(snapshot.steps(GlobalStep(0)).size() == 1);
  CHECK(snapshot.steps({}, GlobalStep(0)).size() == 1);
  CHECK(snapshot.num_steps_up_to(GlobalStep(0)) == 1);
  CHECK(snapshot.num_steps_up_to(GlobalStep(7)) == 2);
  CHECK(!snapshot.find_step(GlobalStep(2)));

  const std::vector<SavedRow> rows = snapshot.rows(GlobalStep(0));
  REQUIRE(rows.size() == 2);
  CHECK(snapshot.worker(rows[0].worker()) == "worker_0");
  CHECK(snapshot.worker(rows[1].worker()) == "worker_1");
  CHECK(rows[0] != rows[1]);
  CHECK(rows[0] < rows[1]);
  CHECK(std::get<GlobalStep>(rows[1].id()) == GlobalStep(0));
  CHECK(rows[1].mode() == Mode::train);
  CHECK(snapshot.items(rows[0]).size() == 1);
  CHECK(snapshot.items(rows[0], a).empty());
  const std::span<const SavedItem> items = snapshot.items(rows[1], b);
  REQUIRE(items.size() == 2);
  CHECK(items[0].is_value());
  CHECK(items[1].reduction == 0);
  CHECK(snapshot.records(rows[1]) == 2);
  CHECK(snapshot.items(rows[0]).data() != snapshot.items(rows[1]).data());
  CHECK(read(trial, snapshot, rows[1], items[0].position) == std::vector<float>{1, 2});
  CHECK(read(trial, snapshot, rows[1], items[1].position) == std::vector<float>{1.5F});

  const std::vector<SavedRow> series = snapshot.series(b, rows[0].worker());
  REQUIRE(series.size() == 2);
  CHECK(series[1].step() == GlobalStep(1));
  CHECK(snapshot.series(b, rows[0].worker(), Mode::eval).size() == 1);
  std::map<SavedRow, int> keyed{{series[0], 1}};
  CHECK(keyed.contains(rows[0]));
}

TEST_CASE("selecting by a query takes steps of matching from the caller's budget") {
  Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  const TrialSnapshot snapshot = TrialSnapshot::take(trial);
  const std::uint32_t b = snapshot.find_tensor("b").value();
  CHECK(snapshot.select({.names = {"b"}}).at(b));
  std::uint64_t steps = limits::pattern_question_steps;
  const std::vector<bool> selected = snapshot.select({.regex = {"^a$"}}, &steps);
  CHECK(selected.size() == 2);
  CHECK(!selected.at(b));
  CHECK(steps < limits::pattern_question_steps);
  steps = 0;
  CHECK_THROWS_AS(static_cast<void>(snapshot.select({.regex = {"^a$"}}, &steps)), MatchLimit);
  CHECK_THROWS_AS(static_cast<void>(snapshot.select({.regex = {"("}})), InvalidArgument);
}

TEST_CASE("a snapshot stays as it was; the next one has the same ids and rows") {
  Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  const TrialSnapshot before = TrialSnapshot::take(trial);
  const TrialSnapshot copy = before;
  CHECK(copy == before);
  CHECK(TrialSnapshot::last(trial) == before);
  REQUIRE(before.steps().size() == 2);
  CHECK(before.steps()[0].complete);
  CHECK(!before.steps()[1].complete);
  CHECK(before.state(GlobalStep(1)) == StepState::not_yet_available);
  before.require(GlobalStep(0));
  CHECK_THROWS_AS(before.require(GlobalStep(1)), StepNotYetAvailable);
  const auto row = before.rows(GlobalStep(1)).front().id();

  sample.builder.step({.step = 1, .worker = "worker_1", .mode = Mode::eval, .tensors = {{"a", {4}}}, .shapes = {}});
  CHECK(TrialSnapshot::last(trial) == before);
  const TrialSnapshot after = TrialSnapshot::take(trial);
  CHECK(after != before);
  CHECK(before.rows(GlobalStep(1)).size() == 1);
  REQUIRE(after.rows(GlobalStep(1)).size() == 2);
  CHECK(after.rows(GlobalStep(1)).front().id() == row);
  CHECK(after.find_tensor("a") == before.find_tensor("a"));
  CHECK(after.generation() == before.generation());
  CHECK(after.collections() == before.collections());
  after.require(GlobalStep(1));

  sample.builder.end();
  const TrialSnapshot ended = TrialSnapshot::take(trial);
  CHECK_THROWS_AS(ended.require(GlobalStep(2)), NoMoreData);
}

TEST_CASE("rows that saved the same have their items in common") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 1);
  builder.step({.step = 0, .tensors = {{"a", {1}}, {"b", {2}}}, .shapes = {}});
  builder.step({.step = 1, .tensors = {{"a", {3}}, {"b", {4}}}, .shapes = {}});
  const Trial trial = Trial::open(dir.path());
  const TrialSnapshot snapshot = TrialSnapshot::take(trial);
  const std::span<const SavedItem> items = snapshot.items(snapshot.rows(GlobalStep(0)).front());
  CHECK(items.size() == 2);
  CHECK(snapshot.items(snapshot.rows(GlobalStep(1)).front()).data() == items.data());
}

TEST_CASE("a damaged index file is a problem of its step and worker, a damaged collections file one of collections") {
  Sample sample;
  sample.builder.file("index/000000000/000000000002_worker_1.json", "{");
  sample.builder.file("collections/000000000/worker_1_collections.json", "{");
  sample.builder.end();
  const Trial trial = Trial::open(sample.dir.path());
  const TrialSnapshot snapshot = TrialSnapshot::take(trial);
  const std::vector<SnapshotProblem> problems = snapshot.problems();
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].problem.kind == ProblemKind::damaged);
  CHECK(!problems[0].of_collections);
  CHECK(problems[0].problem.step == GlobalStep(2));
  REQUIRE(problems[0].worker);
  CHECK(snapshot.worker(*problems[0].worker) == "worker_1");
  CHECK(problems[1].problem.kind == ProblemKind::damaged);
  CHECK(problems[1].of_collections);
}

TEST_CASE("a tensor of which all values were superseded is not saved, until it has one again") {
  MemoryTrial job;
  job.number(0, "a", 1).number(1, "b", 1);
  Script script;
  Trial trial = job.open(script);
  const auto saved = [&] {
    trial.refresh();
    return TrialSnapshot::last(trial).saved();
  };
  CHECK(saved() == std::vector<bool>{true, true});
  job.restart(1).number(1, "a", 1);
  CHECK(saved() == std::vector<bool>{true, false});
  job.number(2, "b", 1);
  CHECK(saved() == std::vector<bool>{true, true});
}

TEST_CASE("no refresh in this thread; other threads go on refreshing") {
  Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  const std::array<const Trial*, 1> trials{&trial};
  {
    const NoRefresh outer(trials, true);
    {
      const NoRefresh inner(trials, true);
      sample.builder.step({.step = 2, .tensors = {{"b", {5}}}, .shapes = {}});
      CHECK(trial.steps(true).size() == 2);
    }
    CHECK(trial.steps(true).size() == 2);
    std::size_t seen = 0;
    std::thread([&] { seen = trial.steps(true).size(); }).join();
    CHECK(seen == 3);
  }
  sample.builder.step({.step = 3, .tensors = {{"b", {5}}}, .shapes = {}});
  CHECK(trial.steps(true).size() == 4);
}

}  // namespace
}  // namespace smd::test
