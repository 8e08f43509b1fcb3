// SPDX-License-Identifier: Apache-2.0
#include "trial_support.hpp"

#include <doctest/doctest.h>

#include <cstring>

// What comes twice, or contradicts itself.
namespace smd::test {
namespace {

Trial open(const TempDir& dir) { return Trial::open(dir.path()); }

/// Numbers of the entries of a tensor: step, then what its value is.
std::vector<float> values_of(const Trial& trial, const std::string& tensor) {
  std::vector<WantedValue> wanted;
  trial.for_each_entry({.tensors = {tensor}, .include_incomplete = true}, [&](const TensorEntry& entry) {
    wanted.push_back({entry.value.value(), tensor});
    return true;
  });
  std::vector<float> values;
  trial.read(wanted, [&](std::size_t, ReadResult&& result) {
    values.push_back(first_float(result.value.value()));
    return true;
  });
  return values;
}

}  // namespace

TEST_CASE("a mode step used twice: both global steps are kept, the first answers") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  builder.step({.step = 0, .mode_step = 0, .tensors = {{"a", {10}}, {"early", {1}}}, .shapes = {}});
  builder.step({.step = 1, .mode_step = 1, .tensors = {{"a", {11}}}, .shapes = {}});
  builder.step({.step = 2, .mode_step = 0, .tensors = {{"a", {12}}, {"late", {2}}}, .shapes = {}});
  const Trial trial = open(dir);
  CHECK(trial.global_step(Mode::train, ModeStep(0)) == GlobalStep(0));
  CHECK(numbers(trial.global_steps(Mode::train, ModeStep(0))) == Numbers{0, 2});
  CHECK(numbers(trial.steps()) == Numbers{0, 1, 2});
  CHECK(numbers(trial.steps(Mode::train)) == Numbers{0, 1});
  const Tensor a = trial.tensor("a");
  CHECK(first_float(a.value({Mode::train, ModeStep(0)})) == 10);
  CHECK(first_float(a.value(GlobalStep(0))) == 10);
  CHECK(first_float(a.value(GlobalStep(2))) == 12);
  CHECK(values_of(trial, "a") == std::vector<float>{10, 11, 12});
  // Of a mode step the first global step decides, for steps as for values.
  const Tensor late = trial.tensor("late");
  CHECK(late.steps(Mode::train).empty());
  CHECK(numbers(late.steps()) == Numbers{2});
  CHECK_THROWS_AS(static_cast<void>(late.value({Mode::train, ModeStep(0)})), TensorUnavailableForStep);
  CHECK(numbers(trial.tensor("early").steps(Mode::train)) == Numbers{0});
}

TEST_CASE("a worker that claims another mode files its tensors there") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 2).collections("worker_1", 2);
  builder.step(
      {.step = 5, .worker = "worker_1", .mode = Mode::eval, .mode_step = 3, .tensors = {{"a", {31}}}, .shapes = {}});
  builder.step(
      {.step = 5, .worker = "worker_0", .mode = Mode::train, .mode_step = 2, .tensors = {{"a", {20}}}, .shapes = {}});
  const Trial trial = open(dir);
  CHECK(trial.mode(GlobalStep(5)) == Mode::train);  // the first worker by name decides
  CHECK(trial.mode_step(GlobalStep(5)) == ModeStep(2));
  CHECK(trial.mode_step(GlobalStep(5), Mode::train) == ModeStep(2));
  CHECK(trial.mode_step(GlobalStep(5), Mode::eval) == ModeStep(3));
  CHECK(trial.mode_step(GlobalStep(5), Mode::global) == ModeStep(5));
  CHECK_FALSE(trial.mode_step(GlobalStep(5), Mode::predict));
  CHECK_FALSE(trial.mode_step(GlobalStep(3), Mode::global));
  CHECK(trial.modes() == std::vector<Mode>{Mode::train, Mode::eval});
  CHECK(trial.global_step(Mode::eval, ModeStep(3)) == GlobalStep(5));
  const Tensor a = trial.tensor("a");
  CHECK(first_float(a.value({Mode::train, ModeStep(2)})) == 20);
  CHECK(first_float(a.value({Mode::eval, ModeStep(3)})) == 31);
  CHECK(a.workers({Mode::eval, ModeStep(3)}) == Texts{"worker_1"});
  CHECK(a.workers(GlobalStep(5)) == Texts{"worker_0", "worker_1"});
  CHECK(numbers(trial.steps()) == Numbers{5});  // complete: both wrote it, whatever they call it
}

TEST_CASE("the same step and worker in two folders: the last path counts") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(1));
  StepFiles again = encode_step({.step = 1, .mode_step = 1, .tensors = {{"a", {100}}, {"b", {7}}}, .shapes = {}});
  const std::string own = events_path(1, "worker_0");
  again.index.replace(again.index.find(own), own.size(), "events/again.tfevents");
  builder.file("events/again.tfevents", again.events);
  builder.file("index/000000001/000000000001_worker_0.json", again.index);
  const Trial trial = open(dir);
  CHECK(numbers(trial.steps()) == Numbers{1});
  CHECK(first_float(trial.tensor("a").value(GlobalStep(1))) == 100);
  CHECK(values_of(trial, "a") == std::vector<float>{100});
  CHECK(values_of(trial, "b") == std::vector<float>{7});
  CHECK(trial.step_infos().at(0).workers == Texts{"worker_0"});
}

TEST_CASE("one worker twice does not make two") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 2).step(simple_step(1));
  builder.file("index/000000001/000000000001_worker_0.json", encode_step(simple_step(1)).index);
  CHECK(open(dir).steps().empty());
}

TEST_CASE("the same tensor twice in a file: the last counts") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  builder.step({.step = 0, .tensors = {{"a", {1}}, {"b", {2}}, {"a", {3}}}, .shapes = {{"s", {1}}, {"s", {2}}}});
  const Trial trial = open(dir);
  CHECK(first_float(trial.tensor("a").value(GlobalStep(0))) == 3);
  CHECK(trial.tensor("s").shape(GlobalStep(0)) == Shape{2});
  CHECK(trial.step_infos().at(0).tensors == 3);
  CHECK(values_of(trial, "a") == std::vector<float>{3});
}

TEST_CASE("reductions belong to their tensor; odd names are names") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  builder.step({.step = 0,
                .tensors = {{"smdebug/reductions/mean/w", {1}},
                            {"smdebug/reductions/abs_l2/w", {2}},
                            {"smdebug/reductions/kurtosis/w", {3}},
                            {"smdebug/reductions/min/dir/w", {4}},
                            {"smdebug/reductions/mean", {5}},
                            {"smdebug/reductions//w", {6}},
                            {"scope/smdebug/reductions/mean/w", {7}},
                            {"smdebug/reductions/max/", {8}}},
                .shapes = {}});
  const Trial trial = open(dir);
  CHECK(trial.tensor_names() ==
        Texts{"", "dir/w", "scope/smdebug/reductions/mean/w", "smdebug/reductions//w", "smdebug/reductions/mean", "w"});
  const Tensor w = trial.tensor("w");
  Texts saved;
  for (const auto& [name, value] : w.reduction_values(GlobalStep(0))) {
    saved.push_back(name + "=" + std::to_string(static_cast<int>(first_float(value))));
  }
  CHECK(saved == Texts{"abs_l2=2", "kurtosis=3", "mean=1"});
  CHECK(first_float(w.reduction_value(GlobalStep(0), "l2", true)) == 2);
  CHECK_THROWS_AS(static_cast<void>(w.reduction_value(GlobalStep(0), "l2")), TensorUnavailableForStep);
  CHECK_THROWS_AS(static_cast<void>(w.value(GlobalStep(0))), TensorUnavailableForStep);
  CHECK(first_float(trial.tensor("").reduction_value(GlobalStep(0), "max")) == 8);
  CHECK(trial.tensor("dir/w").reduction_values(GlobalStep(0)).count("min") == 1);
  CHECK(trial.summaries({"w"}).at(0).saved == Texts{"abs_l2", "kurtosis", "mean"});
}

TEST_CASE("a shape saved beside the value keeps both") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  builder.step({.step = 0, .tensors = {{"a", {1, 2}}}, .shapes = {{"a", {5, 4}}, {"only", {3}}}});
  builder.step({.step = 1, .mode_step = 1, .tensors = {{"a", {3, 4, 5}}}, .shapes = {}});
  const Trial trial = open(dir);
  const Tensor a = trial.tensor("a");
  CHECK(a.shape(GlobalStep(0)) == Shape{5, 4});  // as saved, not that of the value
  CHECK(a.value(GlobalStep(0)).shape() == Shape{2});
  CHECK(a.shape(GlobalStep(1)) == Shape{3});
  CHECK(a.shapes().size() == 2);
  CHECK(a.values().size() == 2);
  CHECK_THROWS_AS(static_cast<void>(trial.tensor("only").value(GlobalStep(0))), TensorUnavailableForStep);
  CHECK(trial.tensor("only").shapes(Mode::train).at(ModeStep(0)) == Shape{3});
  CHECK(trial.summaries({"a"}).at(0).saved == Texts{"value", "shape"});
}

TEST_CASE("without a worker the first by name that has what is asked for answers") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 4);
  builder.step({.step = 0, .worker = "worker_0", .tensors = {{"smdebug/reductions/min/a", {1}}}, .shapes = {}});
  builder.step({.step = 0, .worker = "worker_1", .tensors = {}, .shapes = {{"a", {9}}}});
  builder.step({.step = 0, .worker = "worker_2", .tensors = {{"a", {20, 21}}}, .shapes = {}});
  builder.step(
      {.step = 0, .worker = "worker_3", .tensors = {{"a", {30}}, {"smdebug/reductions/max/a", {3}}}, .shapes = {}});
  const Trial trial = open(dir);
  const Tensor a = trial.tensor("a");
  CHECK(first_float(a.value(GlobalStep(0))) == 20);
  CHECK(first_float(a.values().at(ModeStep(0))) == 20);
  CHECK(a.shape(GlobalStep(0)) == Shape{9});
  CHECK(a.shapes().at(ModeStep(0)) == Shape{9});
  CHECK(first_float(a.reduction_value(GlobalStep(0), "min")) == 1);
  // worker_2 comes first: its maximum was not saved, but its value was.
  const TensorValue computed = a.reduction_value(GlobalStep(0), "max");
  REQUIRE(computed.dtype() == Dtype::float64);
  double maximum = 0;
  std::memcpy(&maximum, computed.bytes().data(), sizeof maximum);
  CHECK(maximum == 21);
  CHECK(first_float(a.reduction_value(GlobalStep(0), "max", false, "worker_3")) == 3);
  CHECK(a.shape(GlobalStep(0), "worker_3") == Shape{1});
  CHECK(first_float(a.values(Mode::global, "worker_3").at(ModeStep(0))) == 30);
}

TEST_CASE("workers go by the bytes of their names, device names included") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 1);
  for (const char* const worker : {"worker_2", "worker_10", "_replica-0_task-0_device-GPU-1", "algo-1"}) {
    builder.step(simple_step(0, worker));
  }
  const Texts in_order = {"/replica:0/task:0/device:GPU:1", "algo-1", "worker_10", "worker_2"};
  const Trial trial = open(dir);
  CHECK(trial.writers() == in_order);
  CHECK(trial.tensor("a").workers(GlobalStep(0)) == in_order);
  CHECK(trial.step_infos().at(0).workers == in_order);
  CHECK(trial.summaries().at(0).workers == in_order);
  Texts visited;
  trial.for_each_entry({}, [&](const TensorEntry& entry) {
    visited.emplace_back(entry.worker);
    return true;
  });
  CHECK(visited == in_order);
  Texts first;
  trial.for_each_entry({.first_worker_only = true}, [&](const TensorEntry& entry) {
    first.emplace_back(entry.worker);
    return true;
  });
  CHECK(first == Texts{in_order.front()});
}

TEST_CASE("a step of number -1, or of mode step -1, is read") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  builder.step({.step = -1, .mode_step = -1, .tensors = {{"a", {5}}}, .shapes = {}}).step(simple_step(0));
  const Trial trial = open(dir);
  CHECK(numbers(trial.steps()) == Numbers{-1, 0});
  CHECK(numbers(trial.steps(Mode::train)) == Numbers{-1, 0});
  CHECK(first_float(trial.tensor("a").value(GlobalStep(-1))) == 5);
  CHECK(trial.has_passed_step(GlobalStep(-2)) == StepState::unavailable);
}

}  // namespace smd::test
