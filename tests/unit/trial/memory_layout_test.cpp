// SPDX-License-Identifier: Apache-2.0
// What a trial answers where its layout has no index files, knows its steps only by reading, grows, and holds numbers,
// bare elements and records.
#include "memory_layout.hpp"

#include <smd/follow.hpp>
#include <smd/reduction.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>

namespace smd::test {
namespace {

using namespace std::chrono_literals;

/// The loss of steps 0 to 9 as a number, every fifth step weights as bare elements and a histogram as a record.
void add_job(MemoryTrial& job, std::int64_t first = 0, std::int64_t last = 9) {
  for (std::int64_t step = first; step <= last; ++step) {
    job.number(step, "loss", 10 - static_cast<double>(step));
    if (step % 5 == 0) {
      const auto base = static_cast<float>(step);
      job.elements(step, "weights", {base, base + 1, base + 2, base + 3}, {2, 2});
      job.record(step, "gradient", {base, -base});
    }
  }
}

std::vector<float> floats(const TensorValue& value) {
  std::vector<float> numbers(value.bytes().size() / sizeof(float));
  std::memcpy(numbers.data(), value.bytes().data(), value.bytes().size());
  return numbers;
}

}  // namespace

TEST_CASE("memory layout: queries") {
  Script script;
  MemoryTrial job;
  add_job(job);
  const Trial trial = job.open(script);
  CHECK(trial.name() == "memory");
  CHECK(numbers(trial.steps()) == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(numbers(trial.listed_steps()) == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(trial.last_complete_step() == GlobalStep(9));
  CHECK(trial.modes().empty());
  CHECK(trial.mode(GlobalStep(3)) == Mode::global);
  CHECK(trial.writers() == Texts{"worker_0"});
  CHECK(trial.num_workers() == 1);
  CHECK_FALSE(trial.ended());
  CHECK(trial.problems().empty());
  CHECK(trial.tensor_names() == Texts{"run/gradient", "run/loss", "run/weights"});
  CHECK(trial.tensor_names({.step = GlobalStep(4)}) == Texts{"run/loss"});
  CHECK(trial.tensor_names({.collections = {"losses"}}) == Texts{"run/loss"});
  CHECK(trial.tensor_names({.regex = {"w.i"}}) == Texts{"run/weights"});
  CHECK(trial.has_passed_step(GlobalStep(5)) == StepState::available);
  CHECK(trial.has_passed_step(GlobalStep(10)) == StepState::not_yet_available);
  CHECK_THROWS_AS((void)trial.tensor("run/losss"), TensorUnavailable);
}

TEST_CASE("memory layout: the views of smd-ls") {
  Script script;
  MemoryTrial job;
  add_job(job);
  const Trial trial = job.open(script);
  const std::vector<StepInfo> steps = trial.step_infos();
  REQUIRE(steps.size() == 10);
  CHECK(steps[1].tensors == 1);
  CHECK(steps[1].bytes == 4);  // a float32
  CHECK(steps[1].complete);
  CHECK(steps[5].tensors == 3);
  CHECK(steps[5].workers == Texts{"worker_0"});
  const std::vector<TensorSummary> tensors = trial.summaries();
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[1].tensor == "run/loss");
  CHECK(tensors[1].steps == 10);
  CHECK(tensors[1].saved == Texts{"value"});
  CHECK(tensors[2].last_step == GlobalStep(5));
  CHECK(tensors[2].bytes == 32);  // four float32 at two steps
  Texts seen;
  trial.for_each_entry({.steps = {{GlobalStep(0), GlobalStep(1)}}}, [&](const TensorEntry& entry) {
    REQUIRE(entry.value);
    seen.push_back(std::to_string(entry.step.value) + " " + std::string(entry.tensor) + " " + *entry.value->file);
    return true;
  });
  CHECK(seen == Texts{"0 run/gradient records", "0 run/loss log", "0 run/weights elements", "1 run/loss log"});
}

TEST_CASE("memory layout: values of all three kinds, one by one") {
  Script script;
  MemoryTrial job;
  add_job(job);
  job.number(3, "epoch", 7, Dtype::int64).number(3, "rate", 0.1, Dtype::float64);
  const Trial trial = job.open(script);
  CHECK(first_float(trial.tensor("run/loss").value(GlobalStep(3))) == 7);
  CHECK(trial.tensor("run/loss").value(GlobalStep(3)).dtype() == Dtype::float32);
  CHECK(trial.tensor("run/rate").value(GlobalStep(3)).item() == 0.1);
  CHECK(trial.tensor("run/epoch").value(GlobalStep(3)).dtype() == Dtype::int64);
  CHECK(trial.tensor("run/epoch").value(GlobalStep(3)).item() == 7);
  CHECK(floats(trial.tensor("run/weights").value(GlobalStep(5))) == std::vector<float>{5, 6, 7, 8});
  CHECK(trial.tensor("run/weights").shape(GlobalStep(5)) == Shape{2, 2});
  CHECK(floats(trial.tensor("run/gradient").value(GlobalStep(5))) == std::vector<float>{5, -5});
  CHECK(trial.tensor("run/loss").values().size() == 10);
  CHECK_THROWS_AS((void)trial.tensor("run/weights").value(GlobalStep(4)), TensorUnavailableForStep);
}

TEST_CASE("memory layout: reductions, of values and in bulk") {
  Script script;
  MemoryTrial job;
  add_job(job);
  const Trial trial = job.open(script);
  CHECK(trial.tensor("run/weights").reduction_value(GlobalStep(5), "mean").item() == 6.5);
  CHECK(trial.tensor("run/gradient").reduction_value(GlobalStep(5), "max").item() == 5);
  CHECK(trial.tensor("run/loss").reduction_value(GlobalStep(4), "min", true).item() == 6);
  std::vector<WantedValue> wanted;
  trial.for_each_entry({}, [&](const TensorEntry& entry) {
    wanted.push_back({*entry.value, entry.tensor});
    return true;
  });
  REQUIRE(wanted.size() == 14);
  double sum = 0;  // of all elements: loss 55, weights 6 + 26, gradients 0
  std::vector<double> times;
  trial.read(wanted, [&](std::size_t, ReadResult&& result) {
    REQUIRE(result.value);
    for (const float number : floats(*result.value)) {
      sum += number;
    }
    times.push_back(result.wall_time);
    return true;
  });
  CHECK(sum == 87);
  CHECK(times.front() == 1000);
  CHECK(times.back() == 1009);
}

TEST_CASE("memory layout: a range bounds what there is, and more of it can be asked for") {
  Script script;
  MemoryTrial job;
  add_job(job);
  Trial trial = job.open(script, {.range_steps = StepRange{.newest = 3}});
  CHECK(numbers(trial.steps()) == Numbers{7, 8, 9});
  CHECK(trial.has_tensor("run/loss"));
  CHECK_FALSE(trial.has_tensor("run/weights"));
  add_job(job, 10, 11);
  trial.refresh();
  CHECK(numbers(trial.steps()) == Numbers{7, 8, 9, 10, 11});  // the newest of the first look, and all after them
  trial.load_range(StepRange{.oldest = 2});
  CHECK(numbers(trial.steps()) == Numbers{0, 1, 7, 8, 9, 10, 11});
  trial.load_range({});
  CHECK(trial.steps().size() == 12);
  CHECK(trial.has_tensor("run/weights"));
}

TEST_CASE("memory layout: a look reads only what is new") {
  Script script;
  MemoryTrial job;
  add_job(job);
  Trial trial = job.open(script);
  const std::size_t before = job.lines_read();
  job.number(10, "loss", 0);
  trial.refresh();
  CHECK(job.lines_read() == before + 1);
  CHECK(trial.steps().size() == 11);
  job.number(10, "late", 5);  // to a step that is known
  trial.refresh();
  CHECK(job.lines_read() == before + 2);
  CHECK(trial.tensor_names({.step = GlobalStep(10)}) == Texts{"run/late", "run/loss"});
  CHECK(first_float(trial.tensor("run/late").value(GlobalStep(10))) == 5);
}

TEST_CASE("memory layout: a restart takes back what it overwrites") {
  Script script;
  MemoryTrial job;
  add_job(job);
  Trial trial = job.open(script);
  job.number(9, "only_once", 1);
  trial.refresh();
  CHECK(trial.has_tensor("run/only_once"));
  std::vector<TensorEntry> held;
  trial.for_each_entry({}, [&](const TensorEntry& entry) {
    held.push_back(entry);
    return true;
  });
  job.restart(6).number(6, "loss", 40).number(7, "loss", 30);
  trial.refresh();
  CHECK(held.front().tensor == "run/gradient");  // what was borrowed stays valid
  CHECK(held.front().worker == "worker_0");
  CHECK_FALSE(trial.has_tensor("run/only_once"));
  CHECK(numbers(trial.steps()) == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(first_float(trial.tensor("run/loss").value(GlobalStep(6))) == 40);
  CHECK(first_float(trial.tensor("run/loss").value(GlobalStep(5))) == 5);
}

TEST_CASE("memory layout: two workers") {
  Script script;
  MemoryTrial job;
  job.number(0, "loss", 1).number(0, "loss", 2, Dtype::float32, "worker_1").number(1, "loss", 3);
  const Trial trial = job.open(script);
  CHECK(trial.num_workers() == 2);
  CHECK(numbers(trial.steps()) == Numbers{0, 1});  // each step that was read is complete
  CHECK(trial.tensor("run/loss").workers(GlobalStep(0)) == Texts{"worker_0", "worker_1"});
  CHECK(first_float(trial.tensor("run/loss").value(GlobalStep(0), "worker_1")) == 2);
  CHECK_THROWS_AS((void)trial.tensor("run/loss").value(GlobalStep(1), "worker_1"), InvalidWorker);
}

TEST_CASE("memory layout: a follower gives the steps as they come, until the end") {
  Script script;
  MemoryTrial job;
  add_job(job, 0, 1);
  script.at(100ms, [&] { add_job(job, 2, 3); });
  script.at(200ms, [&] { job.number(4, "loss", 0).end(); });
  const Trial trial = job.open(script);
  StepFollower follower(trial);
  for (std::int64_t step = 0; step < 5; ++step) {
    const FollowEvent event = follower.next();
    REQUIRE(event.outcome == WaitOutcome::reached);
    CHECK(event.step == GlobalStep(step));
    CHECK(event.missing.empty());
    CHECK(first_float(trial.tensor("run/loss").value(event.step)) == (step == 4 ? 0 : 10 - static_cast<float>(step)));
  }
  CHECK(follower.next().outcome == WaitOutcome::ended);
}

TEST_CASE("memory layout: waiting for a step") {
  Script script;
  MemoryTrial job;
  add_job(job, 0, 1);
  script.at(100ms, [&] { add_job(job, 2, 2); });
  const Trial trial = job.open(script);
  const std::vector<StepKey> wanted = {GlobalStep(2)};
  CHECK(trial.wait_for_steps(wanted, {.deadline = script.after(1s)}) == WaitOutcome::reached);
  CHECK(script.elapsed() == 100ms);
}

TEST_CASE("memory layout: damage costs one value") {
  Script script;
  MemoryTrial job;
  add_job(job);
  job.file("records")[30] ^= 1;
  job.file("elements").resize(job.file("elements").size() - 1);
  const Trial trial = job.open(script);
  CHECK_THROWS_AS((void)trial.tensor("run/gradient").value(GlobalStep(0)), ReadError);
  CHECK(floats(trial.tensor("run/gradient").value(GlobalStep(5))) == std::vector<float>{5, -5});
  CHECK(floats(trial.tensor("run/weights").value(GlobalStep(0))) == std::vector<float>{0, 1, 2, 3});
  CHECK_THROWS_AS((void)trial.tensor("run/weights").value(GlobalStep(5)), TensorUnavailableForStep);
}

}  // namespace smd::test
