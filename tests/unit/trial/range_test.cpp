// SPDX-License-Identifier: Apache-2.0
#include "trial_support.hpp"

#include <doctest/doctest.h>

#include <filesystem>

// A range bounds what is read: index files outside it hold garbage here, so that opening one would be reported.
namespace smd::test {
namespace {

/// Steps 0 to 9 of one worker; those of `garbage` are damaged.
void build(const TempDir& dir, const Numbers& garbage) {
  TrialBuilder builder(dir.path());
  builder.collections();
  for (std::int64_t step = 0; step < 10; ++step) {
    builder.step(simple_step(step));
  }
  for (const std::int64_t step : garbage) {
    builder.file(index_path(step, "worker_0"), "garbage");
  }
}

Trial open(const TempDir& dir, const StepRange& range) {
  TrialOptions options;
  options.range_steps = range;
  return Trial::open(dir.path(), options);
}

const Numbers all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

}  // namespace

TEST_CASE("newest steps only") {
  const TempDir dir;
  build(dir, {0, 1, 2, 3, 4, 5, 6, 7});
  const Trial trial = open(dir, StepRange{.newest = 2});
  CHECK(numbers(trial.steps()) == Numbers{8, 9});
  CHECK(numbers(trial.listed_steps()) == all);
  CHECK(trial.last_complete_step() == GlobalStep(9));
  CHECK(trial.problems().empty());
}

TEST_CASE("oldest steps only, and the last complete one is right all the same") {
  const TempDir dir;
  build(dir, {2, 3, 4, 5, 6, 7, 8});
  for (const bool ended : {false, true}) {
    if (ended) {
      TrialBuilder(dir.path()).end();
    }
    const Trial trial = open(dir, StepRange{.oldest = 2});
    CHECK(numbers(trial.steps()) == Numbers{0, 1});
    CHECK(trial.last_complete_step() == GlobalStep(9));
    CHECK(trial.problems().empty());
  }
}

TEST_CASE("a step out of range that turns out to be nothing is not the last complete one") {
  const TempDir dir;
  build(dir, {9});
  TrialBuilder(dir.path())
      .file(index_path(8, "worker_0"),
            R"({"meta": {"mode": "TRAIN", "mode_step": 8}, "tensor_payload": [], "shape_payload": []})");
  for (const bool ended : {false, true}) {
    if (ended) {
      TrialBuilder(dir.path()).end();
    }
    CHECK(open(dir, StepRange{.oldest = 1}).last_complete_step() == GlobalStep(7));
    CHECK(open(dir, {}).last_complete_step() == GlobalStep(7));
  }
}

TEST_CASE("an incomplete step out of range is not the last complete one") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 2);
  for (std::int64_t step = 0; step < 5; ++step) {
    builder.step(simple_step(step)).step(simple_step(step, "worker_1"));
  }
  builder.step(simple_step(5));
  CHECK(open(dir, StepRange{.oldest = 1}).last_complete_step() == GlobalStep(4));
}

TEST_CASE("steps between two") {
  const TempDir dir;
  build(dir, {0, 1, 2, 6, 7, 8});
  const Trial trial = open(dir, StepRange{.first = GlobalStep(3), .end = GlobalStep(6)});
  CHECK(numbers(trial.steps()) == Numbers{3, 4, 5});
  CHECK(trial.problems().empty());
  CHECK(open(dir, StepRange{.first = GlobalStep(6), .end = GlobalStep(3)}).steps().empty());
  CHECK(open(dir, StepRange{.newest = 0}).steps().empty());
  CHECK(open(dir, StepRange{.oldest = 0}).steps().empty());
  CHECK(numbers(open(dir, StepRange{.first = GlobalStep(9)}).steps()) == Numbers{9});
  CHECK(numbers(open(dir, StepRange{.newest = 100}).listed_steps()) == all);
}

TEST_CASE("covering a further range reads that too, and nothing else") {
  const TempDir dir;
  build(dir, {1, 2, 3, 4, 5, 6});
  Trial trial = open(dir, StepRange{.newest = 1});
  trial.load_range(StepRange{.oldest = 1});
  CHECK(numbers(trial.steps()) == Numbers{0, 9});
  CHECK(trial.problems().empty());
  trial.load_range(StepRange{.first = GlobalStep(6), .end = GlobalStep(9)});
  CHECK(numbers(trial.steps()) == Numbers{0, 7, 8, 9});
  CHECK(kinds_and_files(trial.problems()) == Texts{"Damaged index/000000000/000000000006_worker_0.json"});
  trial.load_range({});
  CHECK(numbers(trial.steps()) == Numbers{0, 7, 8, 9});
  CHECK(trial.problems().size() == 6);
}

TEST_CASE("a range may be widened after the job's end") {
  const TempDir dir;
  build(dir, {});
  TrialBuilder(dir.path()).end();
  Trial trial = open(dir, StepRange{.newest = 1});
  trial.load_range({});
  CHECK(numbers(trial.steps()) == all);
}

TEST_CASE("a further range of a trial that is in range as a whole costs no look") {
  const TempDir dir;
  build(dir, {});
  TrialOptions options;
  options.auto_refresh = false;
  Trial trial = Trial::open(dir.path(), options);
  std::filesystem::rename(dir / "index", dir / "moved");
  trial.load_range(StepRange{.newest = 3});
  trial.load_range({});
  CHECK(numbers(trial.listed_steps()) == all);
  CHECK(numbers(trial.steps(true)) == all);
  CHECK(trial.problems().empty());
}

TEST_CASE("more new steps between two looks than the newest range holds: none is left out") {
  const TempDir dir;
  build(dir, {0, 1});
  const Trial trial = open(dir, StepRange{.newest = 2});
  CHECK(numbers(trial.steps()) == Numbers{8, 9});
  TrialBuilder builder(dir.path());
  for (std::int64_t step = 10; step < 15; ++step) {
    builder.step(simple_step(step));
  }
  CHECK(numbers(trial.steps()) == Numbers{8, 9, 10, 11, 12, 13, 14});
  CHECK(trial.problems().empty());
}

TEST_CASE("a newest range of a job that has just begun takes all that comes") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  const Trial trial = open(dir, StepRange{.newest = 2});
  CHECK(trial.steps().empty());
  builder.step(simple_step(5)).step(simple_step(6)).step(simple_step(7));
  CHECK(numbers(trial.steps()) == Numbers{5, 6, 7});
}

TEST_CASE("ranges go by number across the border of 12 digits") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  const std::int64_t border = 1'000'000'000'000;
  for (const std::int64_t step : {border - 1, border, border + 1}) {
    builder.step(simple_step(step));
  }
  CHECK(numbers(open(dir, {}).steps()) == Numbers{border - 1, border, border + 1});
  CHECK(numbers(open(dir, StepRange{.newest = 2}).steps()) == Numbers{border, border + 1});
  CHECK(numbers(open(dir, StepRange{.first = GlobalStep(0), .end = GlobalStep(border)}).steps()) ==
        Numbers{border - 1});
}

}  // namespace smd::test
