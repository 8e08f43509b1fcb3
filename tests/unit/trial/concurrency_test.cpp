// SPDX-License-Identifier: Apache-2.0
#include "trial_support.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

// Queries of several threads while another refreshes. Says most under ThreadSanitizer.
namespace smd::test {
namespace {

constexpr int rounds = 40;

void build(TrialBuilder& builder) {
  builder.file("collections/000000000/worker_0_collections.json",
               R"({"collections": {"c": {"include_regex": ["^a", "(a+)+$", "("]}}})");
  for (std::int64_t step = 0; step < 10; ++step) {
    builder.step(simple_step(step));
  }
}

/// Asks everything; what is known of steps 0 to 9 must stay known, and each answer must fit itself.
/// Doctest's checks are safe to use from threads, exceptions are not: they are counted.
void ask(const Trial& trial, std::atomic<int>& wrong) {
  try {
    const Tensor a = trial.tensor("a");
    const std::size_t steps = trial.steps().size();
    wrong += steps >= 10 && trial.steps().size() >= steps ? 0 : 1;
    wrong += first_float(a.value(GlobalStep(7))) == 7 ? 0 : 1;
    wrong += a.values().at(ModeStep(3)).shape() == Shape{1} ? 0 : 1;
    wrong += trial.tensor_names({.collections = {"c"}}).empty() ? 1 : 0;
    wrong += trial.has_passed_step(GlobalStep(9)) == StepState::available ? 0 : 1;
    wrong += trial.summaries({"a"}).at(0).steps >= 10 ? 0 : 1;
    wrong += trial.problems().size() <= 1 ? 0 : 1;  // the collection's pattern that does not compile
    std::int64_t last = -1;
    trial.for_each_entry({.tensors = {"a"}}, [&](const TensorEntry& entry) {
      wrong += entry.step.value > last && entry.tensor == "a" && entry.worker == "worker_0" ? 0 : 1;
      last = entry.step.value;
      return true;
    });
    wrong += last >= 9 ? 0 : 1;
  } catch (const std::exception&) {
    ++wrong;
  }
}

}  // namespace

TEST_CASE("many threads ask while one writes and refreshes") {
  for (const bool auto_refresh : {true, false}) {
    const TempDir dir;
    TrialBuilder builder(dir.path());
    build(builder);
    TrialOptions options;
    options.auto_refresh = auto_refresh;
    Trial trial = Trial::open(dir.path(), options);
    std::atomic<int> wrong{0};
    std::atomic<bool> done{false};
    std::vector<std::thread> askers;
    for (int i = 0; i < 3; ++i) {
      askers.emplace_back([&] {
        do {
          ask(trial, wrong);
        } while (!done);
      });
    }
    for (std::int64_t step = 10; step < 10 + rounds; ++step) {
      BuiltStep built = simple_step(step);
      built.tensors.emplace_back("new" + std::to_string(step), std::vector<float>{1, 2});
      builder.step(built);
      trial.refresh();
    }
    builder.end();
    trial.refresh();
    done = true;
    for (std::thread& asker : askers) {
      asker.join();
    }
    CHECK(wrong == 0);
    CHECK(trial.steps().size() == 10 + rounds);
    CHECK(trial.ended());
  }
}

TEST_CASE("ranges are widened by several threads at once") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  build(builder);
  TrialOptions options;
  options.range_steps = StepRange{.oldest = 1};
  options.auto_refresh = false;
  Trial trial = Trial::open(dir.path(), options);
  std::vector<std::thread> threads;
  for (std::int64_t first = 1; first < 10; first += 3) {
    threads.emplace_back([&trial, first] {
      for (std::int64_t step = first; step < first + 3; ++step) {
        trial.load_range(StepRange{.first = GlobalStep(step), .end = GlobalStep(step + 1)});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(numbers(trial.steps()) == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("reads of many threads at once, each with threads of its own") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  build(builder);
  const Trial trial = Trial::open(dir.path());
  std::vector<WantedValue> wanted;
  for (int again = 0; again < 20; ++again) {
    trial.for_each_entry({}, [&](const TensorEntry& entry) {
      wanted.push_back({*entry.value, "a"});
      return true;
    });
  }
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      trial.read(wanted,
                 [&](std::size_t n, ReadResult&& result) {
                   right += result.value && first_float(*result.value) == static_cast<float>(n % 10) ? 1 : 0;
                   return true;
                 },
                 {3});
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(right == 3 * 200);
}

}  // namespace smd::test
