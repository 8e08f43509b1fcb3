// SPDX-License-Identifier: Apache-2.0
#include "trial/snapshot.hpp"

#include "trial_support.hpp"

#include <doctest/doctest.h>

#include <optional>

namespace smd::test {
namespace {

using detail::trial::given_up;

struct Known {
  std::int64_t global;
  Mode mode;
  std::int64_t mode_step;
};

/// The table of docs/format.md.
StepState by_the_table(const std::vector<Known>& known, std::int64_t last_complete, bool ended, StepKey key) {
  const Known* best = nullptr;
  const auto number = [&](const Known& step) { return key.mode == Mode::global ? step.global : step.mode_step; };
  for (const Known& step : known) {
    if ((key.mode == Mode::global || step.mode == key.mode) && number(step) >= key.number &&
        (best == nullptr || number(step) < number(*best))) {
      best = &step;
    }
  }
  if (best == nullptr) {
    return ended ? StepState::unavailable : StepState::not_yet_available;
  }
  if (number(*best) > key.number) {
    return ended || last_complete >= best->global ? StepState::unavailable : StepState::not_yet_available;
  }
  return ended || best->global <= last_complete ? StepState::available : StepState::not_yet_available;
}

void add(TrialBuilder& builder, const Known& step, const std::string& worker) {
  builder.step({.step = step.global,
                .worker = worker,
                .mode = step.mode,
                .mode_step = step.mode_step,
                .tensors = {{"a", {1}}},
                .shapes = {}});
}

}  // namespace

TEST_CASE("the state of every step is as the table says") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 2).collections("worker_1", 2);
  const std::vector<Known> known = {{0, Mode::train, 0}, {3, Mode::train, 1}, {5, Mode::eval, 0},
                                    {7, Mode::train, 4}, {9, Mode::eval, 3},  {12, Mode::train, 6}};
  for (const Known& step : known) {
    add(builder, step, "worker_0");
  }
  for (const std::size_t both : {0, 1, 3}) {  // so the last complete step is 7
    add(builder, known[both], "worker_1");
  }
  for (const bool ended : {false, true}) {
    if (ended) {
      builder.end();
    }
    const Trial trial = Trial::open(dir.path());
    REQUIRE(trial.last_complete_step() == GlobalStep(ended ? 12 : 7));
    CHECK(numbers(trial.steps()) == (ended ? Numbers{0, 3, 5, 7, 9, 12} : Numbers{0, 3, 5, 7}));
    CHECK(numbers(trial.steps(true)) == Numbers{0, 3, 5, 7, 9, 12});
    CHECK(numbers(trial.steps(Mode::eval)) == (ended ? Numbers{0, 3} : Numbers{0}));
    for (const Mode mode : {Mode::global, Mode::train, Mode::eval, Mode::predict}) {
      for (std::int64_t number = -2; number < 15; ++number) {
        CAPTURE(ended);
        CAPTURE(to_string(mode));
        CAPTURE(number);
        const StepKey key = mode == Mode::global ? StepKey(GlobalStep(number)) : StepKey(mode, ModeStep(number));
        CHECK(trial.has_passed_step(key) == by_the_table(known, 7, ended, key));
      }
    }
  }
}

TEST_CASE("the window lets the oldest half of it go while more than it are incomplete") {
  for (std::size_t count = 0; count <= 40; ++count) {
    for (std::size_t window = 0; window <= 12; ++window) {
      std::size_t gone = 0;
      while (count - gone > window) {
        for (std::size_t n = 0; n < std::max<std::size_t>(window / 2, 1) && gone < count; ++n) {
          ++gone;
        }
      }
      CAPTURE(count);
      CAPTURE(window);
      CHECK(given_up(count, window) == gone);
    }
  }
}

TEST_CASE("the window gives the same answer however often it is asked") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 2);
  TrialOptions options;
  options.incomplete_step_wait_window = 6;
  builder.step(simple_step(0));
  const Trial asked = Trial::open(dir.path(), options);
  for (std::int64_t step = 100; step < 3000; step += 100) {
    builder.step(simple_step(step));
    const auto last = asked.last_complete_step();
    CHECK(asked.last_complete_step() == last);
    CHECK(Trial::open(dir.path(), options).last_complete_step() == last);
  }
}

TEST_CASE("a straggler that never comes does not hold up later steps") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 3);
  for (const char* const worker : {"worker_0", "worker_1", "worker_2"}) {
    for (std::int64_t step = 0; step < 6; ++step) {
      const bool late = (step == 1 || step == 4) && std::string(worker) == "worker_1";
      if (!late) {
        builder.step(simple_step(step, worker));
      }
    }
  }
  CHECK(numbers(Trial::open(dir.path()).steps()) == Numbers{0, 1, 2, 3, 4, 5});
  builder.step(simple_step(6)).step(simple_step(6, "worker_2"));
  CHECK(numbers(Trial::open(dir.path()).steps()) == Numbers{0, 1, 2, 3, 4, 5});
  CHECK(numbers(Trial::open(dir.path()).steps(true)) == Numbers{0, 1, 2, 3, 4, 5, 6});
  builder.end();
  CHECK(numbers(Trial::open(dir.path()).steps()) == Numbers{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("num_workers zero, missing, text, or more than there are") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.step(simple_step(0)).step(simple_step(0, "worker_1")).step(simple_step(1));
  const auto collections = [&](const std::string& meta) {
    builder.file("collections/000000000/worker_0_collections.json", R"({"collections": {}, "_meta": )" + meta + "}");
    return Trial::open(dir.path());
  };
  const auto zero = collections(R"({"num_workers": 0})");
  CHECK(zero.num_workers() == 2);  // as many as wrote anything
  CHECK(numbers(zero.steps()) == Numbers{0});
  CHECK(kinds_and_files(zero.problems()) == Texts{"Warning collections/000000000"});
  const auto missing = collections("{}");
  CHECK(missing.num_workers() == 1);
  CHECK(numbers(missing.steps()) == Numbers{0, 1});
  CHECK(missing.problems().empty());
  const auto text = collections(R"({"num_workers": "2"})");
  CHECK(text.num_workers() == 2);
  CHECK(numbers(text.steps()) == Numbers{0});
  const auto more = collections(R"({"num_workers": 3})");
  CHECK(more.num_workers() == 3);
  CHECK(more.steps().empty());
  CHECK_FALSE(more.last_complete_step());
  REQUIRE(more.problems().size() == 1);
  CHECK(more.problems()[0].text.find("1 of 3 workers") == 0);
}

}  // namespace smd::test
