// SPDX-License-Identifier: Apache-2.0
#include <smd/hook.hpp>
#include <smd/reduction.hpp>
#include <smd/trial.hpp>

#include "support/caught_log.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <stdexcept>

namespace smd {
namespace {

using test::TempDir;

constexpr std::array<Dtype, 21> all_dtypes = {
    Dtype::float32,   Dtype::float64, Dtype::int32,   Dtype::uint8,      Dtype::int16,   Dtype::int8,   Dtype::string,
    Dtype::complex64, Dtype::int64,   Dtype::boolean, Dtype::qint8,      Dtype::quint8,  Dtype::qint32, Dtype::bfloat16,
    Dtype::qint16,    Dtype::quint16, Dtype::uint16,  Dtype::complex128, Dtype::float16, Dtype::uint32, Dtype::uint64};

/// Elements of any kind; booleans are 0 and 1, strings have lengths from 0 to 6.
std::vector<std::byte> random_bytes(Dtype dtype, const Shape& shape, std::mt19937& random) {
  std::vector<std::byte> bytes;
  const std::uint64_t count = *element_count(shape);
  const auto put = [&bytes](unsigned value) { bytes.push_back(static_cast<std::byte>(value)); };
  for (std::uint64_t i = 0; i < count; ++i) {
    if (dtype == Dtype::string) {
      const unsigned length = random() % 7;
      put(length), put(0), put(0), put(0);
      for (unsigned c = 0; c < length; ++c) {
        put('a' + random() % 26);
      }
      continue;
    }
    for (std::size_t byte = 0; byte < item_size(dtype); ++byte) {
      put(dtype == Dtype::boolean ? random() % 2 : random() % 256);
    }
  }
  return bytes;
}

template <class Bytes>
bool same(const TensorValue& value, Dtype dtype, const Shape& shape, const Bytes& bytes) {
  return value.dtype() == dtype && value.shape() == shape && value.bytes().size() == bytes.size() &&
         (bytes.empty() || std::memcmp(value.bytes().data(), bytes.data(), bytes.size()) == 0);
}

TensorView floats(const std::vector<float>& numbers, const Shape& shape) {
  return {Dtype::float32, shape, std::as_bytes(std::span(numbers))};
}

TensorValue owning(Dtype dtype, const Shape& shape, const std::vector<std::byte>& bytes) {
  const std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), copy.get());
  return {dtype, shape, copy, bytes.size()};
}

double number(const TensorValue& value) {
  REQUIRE(value.dtype() == Dtype::float64);
  REQUIRE(value.shape().empty());
  double result = 0;
  std::memcpy(&result, value.bytes().data(), sizeof result);
  return result;
}

HookConfig every_step(const TempDir& folder) {
  return {.out_dir = folder / "run", .save_config = SaveConfigMode{.save_interval = 1}};
}

bool sound(const std::string& path) {
  bool good = true;
  const CheckReport report = check_trial(path, {}, [&](const Problem& problem) {
    if (problem.kind != ProblemKind::remark) {  // tensors without elements are named, and sound
      MESSAGE(to_string(problem));
      good = false;
    }
  });
  return good && !report.damaged;
}

TEST_CASE("every type and shape comes back") {
  const std::vector<Shape> shapes = {{}, {1}, {7}, {2, 3}, {0}, {0, 4}, {3, 1, 2, 2}, {70'000}};
  for (const int way : {0, 1, 2, 3}) {
    const bool checksum = way % 2 == 1;
    const bool owned = way / 2 == 1;
    CAPTURE(checksum);
    CAPTURE(owned);
    const TempDir folder;
    std::mt19937 random(7);
    std::map<std::string, std::vector<std::byte>> written;
    {
      HookConfig config = every_step(folder);
      config.checksum = checksum;
      Hook hook(config);
      for (const Dtype dtype : all_dtypes) {
        for (const Shape& shape : shapes) {
          const std::string name = std::string(to_string(dtype)) + "/" + to_string(shape);
          const auto bytes = random_bytes(dtype, shape, random);
          const bool saved = owned ? hook.save_tensor(name, owning(dtype, shape, bytes))
                                   : hook.save_tensor(name, {dtype, shape, bytes});
          CHECK(saved);
          written[name] = bytes;
        }
      }
      hook.close();
    }
    const Trial trial = Trial::open(folder / "run");
    CHECK(trial.ended());
    for (const Dtype dtype : all_dtypes) {
      for (const Shape& shape : shapes) {
        const std::string name = std::string(to_string(dtype)) + "/" + to_string(shape);
        CAPTURE(name);
        CHECK(same(trial.tensor(name).value(GlobalStep(0)), dtype, shape, written[name]));
      }
    }
    CHECK(trial.tensor_names().size() == all_dtypes.size() * shapes.size());
    CHECK(sound(folder / "run"));
    std::uint64_t unprotected = check_trial(folder / "run", {}, [](const Problem&) {}).unprotected;
    CHECK(unprotected == (checksum ? 0 : written.size()));
  }
}

TEST_CASE("modes count their own steps") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.save_config = SaveConfig({{Mode::train, {.save_interval = 2}}, {Mode::eval, {.save_interval = 1}}});
  Hook hook(config);
  const std::vector<float> one = {1};
  const Shape shape = {1};
  for (int epoch = 0; epoch < 2; ++epoch) {
    hook.set_mode(Mode::train);
    for (int i = 0; i < 3; ++i) {
      hook.save_tensor("x", floats(one, shape));
      hook.next_step();
    }
    hook.set_mode(Mode::eval);
    hook.save_tensor("x", floats(one, shape));
    if (epoch == 0) {
      hook.next_step();  // the other time, the end of the job ends the step
    }
  }
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  using Modes = std::vector<ModeStep>;
  // Global steps: train 0 1 2, eval 3, train 4 5 6, eval 7. Train steps 0 to 5, of which 0 2 4 are saved.
  CHECK(trial.steps() ==
        std::vector<GlobalStep>{GlobalStep(0), GlobalStep(2), GlobalStep(3), GlobalStep(5), GlobalStep(7)});
  CHECK(trial.steps(Mode::train) == Modes{ModeStep(0), ModeStep(2), ModeStep(4)});
  CHECK(trial.steps(Mode::eval) == Modes{ModeStep(0), ModeStep(1)});
  CHECK(trial.mode(GlobalStep(5)) == Mode::train);
  CHECK(trial.mode_step(GlobalStep(7)) == ModeStep(1));
}

TEST_CASE("a step has one mode: changing it begins another") {
  const TempDir folder;
  Hook hook(every_step(folder));
  hook.save_scalar("a", 1);
  hook.set_mode(Mode::eval);  // #41 of FORMAT's list: the scalar keeps the mode that it was saved in
  hook.save_scalar("b", 2);
  CHECK(hook.step() == GlobalStep(1));
  CHECK(hook.mode_step() == ModeStep(0));
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  CHECK(trial.mode(GlobalStep(0)) == Mode::global);
  CHECK(trial.mode(GlobalStep(1)) == Mode::eval);
  CHECK(trial.mode_step(GlobalStep(1)) == ModeStep(0));  // never -1
  CHECK(number(trial.tensor("scalar/b").value(GlobalStep(1))) == 2);
}

TEST_CASE("a number that is no mode changes nothing") {
  const TempDir folder;
  Hook hook(every_step(folder));
  hook.save_scalar("a", 1);
  CHECK_THROWS_AS(hook.set_mode(static_cast<Mode>(0)), InvalidArgument);
  CHECK_THROWS_AS(hook.set_step(GlobalStep(5), static_cast<Mode>(9), ModeStep(5)), InvalidArgument);
  CHECK(hook.mode() == Mode::global);
  hook.save_scalar("b", 2);
  hook.next_step();
  CHECK(hook.step() == GlobalStep(1));
  hook.close();
  CHECK(number(Trial::open(folder / "run").tensor("scalar/b").value(GlobalStep(0))) == 2);
}

TEST_CASE("a mode that offered nothing takes no step") {
  const TempDir folder;
  Hook hook(every_step(folder));
  hook.set_mode(Mode::train);
  hook.set_mode(Mode::eval);
  hook.set_mode(Mode::train);
  CHECK(hook.step() == GlobalStep(0));
  CHECK(hook.mode_step() == ModeStep(0));
}

TEST_CASE("several workers make one trial") {
  const TempDir folder;
  const Shape shape = {2};
  for (const std::string worker : {"worker_0", "worker_1", "/job:worker/replica:0/task:1/device:GPU:0"}) {
    HookConfig config = every_step(folder);
    config.worker = worker;
    config.num_workers = 3;
    config.end_marker = worker.starts_with('/');
    Hook hook(config);
    const std::vector<float> values = {static_cast<float>(worker.size()), 0};
    hook.save_tensor("loss", floats(values, shape));
    hook.close();
  }
  const Trial trial = Trial::open(folder / "run");
  CHECK(trial.num_workers() == 3);
  CHECK(trial.workers() ==
        std::vector<std::string>{"/job:worker/replica:0/task:1/device:GPU:0", "worker_0", "worker_1"});
  const TensorValue value = trial.tensor("loss").value(GlobalStep(0), "/job:worker/replica:0/task:1/device:GPU:0");
  float first = 0;
  std::memcpy(&first, value.bytes().data(), sizeof first);
  CHECK(first == 41);  // the length of the name
}

TEST_CASE("reductions only") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.reduction_config = parse_reduction_config("min,max,mean,std,variance,sum,prod,l1_norm,abs_l2,median,abs_mean");
  Hook hook(config);
  const std::vector<float> values = {-3, 1, 2, 4};
  const Shape shape = {2, 2};
  hook.save_tensor("w:0", floats(values, shape));
  const std::vector<std::int32_t> labels = {5, -7};
  const Shape two = {2};
  hook.save_tensor("labels", {Dtype::int32, two, std::as_bytes(std::span(labels))});
  const Shape none = {0};
  hook.save_tensor("empty", {Dtype::float32, none, {}});
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  const Tensor tensor = trial.tensor("w:0");
  CHECK_THROWS_AS((void)tensor.value(GlobalStep(0)), TensorUnavailableForStep);
  const auto saved = tensor.reduction_values(GlobalStep(0));
  CHECK(saved.size() == 11);
  CHECK(number(saved.at("min")) == -3);
  CHECK(number(saved.at("max")) == 4);
  CHECK(number(saved.at("mean")) == 1);        // (-3 + 1 + 2 + 4) / 4
  CHECK(number(saved.at("variance")) == 6.5);  // (16 + 0 + 1 + 9) / 4
  CHECK(number(saved.at("std")) == doctest::Approx(2.5495097567963922).epsilon(1e-15));
  CHECK(number(saved.at("sum")) == 4);
  CHECK(number(saved.at("prod")) == -24);
  CHECK(number(saved.at("l1")) == 10);
  CHECK(number(saved.at("abs_l2")) == doctest::Approx(5.477225575051661).epsilon(1e-15));  // root of 30
  CHECK(number(saved.at("median")) == 1.5);
  CHECK(number(saved.at("abs_mean")) == 2.5);
  const auto of_labels = trial.tensor("labels").reduction_values(GlobalStep(0));
  CHECK(of_labels.at("min").dtype() == Dtype::int64);
  std::int64_t least = 0;
  std::memcpy(&least, of_labels.at("min").bytes().data(), sizeof least);
  CHECK(least == -7);
  CHECK(number(of_labels.at("mean")) == -1);
  CHECK_FALSE(trial.has_tensor("empty"));  // no elements have no reductions, and the sum 0 would be mistaken for one
  CHECK(sound(folder / "run"));
}

TEST_CASE("losses are saved themselves, whatever is configured") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.reduction_config = parse_reduction_config("max");
  config.include_collections = {"weights"};
  Hook hook(config);
  const std::vector<float> one = {2};
  const Shape shape = {1};
  CHECK(hook.save_tensor("CrossEntropyLoss_output_0", floats(one, shape)));
  CHECK(hook.save_tensor("fc.weight", floats(one, shape)));
  CHECK_FALSE(hook.wants("fc.bias"));
  CHECK_FALSE(hook.save_tensor("fc.bias", floats(one, shape)));
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  CHECK(trial.tensor("CrossEntropyLoss_output_0").value(GlobalStep(0)).shape() == shape);
  CHECK(trial.tensor("CrossEntropyLoss_output_0").reduction_values(GlobalStep(0)).empty());
  CHECK(number(trial.tensor("fc.weight").reduction_values(GlobalStep(0)).at("max")) == 2);
  CHECK_FALSE(trial.has_tensor("fc.bias"));
}

TEST_CASE("losses are not reduced because all tensors are, but because their own collection says so") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.reduction_config = parse_reduction_config("max");
  config.save_all = true;
  config.collections = {
      {.name = "mine", .include_regex = {"^mine/"}, .reduction_config = parse_reduction_config("min")}};
  Hook hook(config);
  const std::vector<float> one = {2};
  const Shape shape = {1};
  hook.save_tensor("loss_output", floats(one, shape), {{"losses"}});
  hook.save_tensor("mine/loss_output", floats(one, shape), {{"losses"}});
  hook.save_tensor("other", floats(one, shape));
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  const auto reductions = [&](const char* name) { return trial.tensor(name).reduction_values(GlobalStep(0)); };
  CHECK(reductions("loss_output").empty());
  CHECK(trial.tensor("loss_output").value(GlobalStep(0)).shape() == shape);
  CHECK(reductions("mine/loss_output").size() == 1);
  CHECK(reductions("mine/loss_output").contains("min"));
  CHECK(reductions("other").contains("max"));
}

TEST_CASE("shapes only, and beside the value") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.reduction_config = ReductionConfig{.save_shape = true};
  config.collections = {{.name = "both",
                         .include_regex = {"^both"},
                         .reduction_config = ReductionConfig{.save_raw_tensor = true, .save_shape = true}}};
  config.save_all = true;
  Hook hook(config);
  const std::vector<float> values(6, 0.5F);
  const Shape shape = {2, 3};
  hook.save_tensor("only", floats(values, shape));
  hook.save_tensor("both", floats(values, shape));
  hook.next_step();
  hook.save_tensor("only", floats(values, shape));
  hook.save_shape("fc/weight", {4, 2}, "dense/kernel:0");
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  CHECK(trial.tensor("only").shape(GlobalStep(0)) == shape);
  CHECK_THROWS_AS((void)trial.tensor("only").value(GlobalStep(0)), TensorUnavailableForStep);
  CHECK(same(trial.tensor("both").value(GlobalStep(0)), Dtype::float32, shape, std::as_bytes(std::span(values))));
  CHECK(trial.tensor("both").entries().front().shape == shape);
  CHECK(trial.tensor("fc/weight").shape(GlobalStep(1)) == Shape{4, 2});
  CHECK(trial.tensor("fc/weight").original_name() == "dense/kernel:0");
  CHECK_FALSE(std::filesystem::exists(folder / "run/events/000000000001"));
  CHECK(sound(folder / "run"));
}

TEST_CASE("gradients are not saved in evaluation") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.include_collections = {"gradients"};
  Hook hook(config);
  const std::vector<float> one = {1};
  const Shape shape = {1};
  hook.set_mode(Mode::eval);
  CHECK_FALSE(hook.save_tensor("gradient/w", floats(one, shape)));
  hook.set_mode(Mode::train);
  CHECK(hook.save_tensor("gradient/w", floats(one, shape)));
}

TEST_CASE("a collection's own steps") {
  const TempDir folder;
  HookConfig config{.out_dir = folder / "run", .save_config = SaveConfigMode{.save_interval = 4}};
  config.collections = {{.name = "gradients", .save_config = {{Mode::train, {.save_interval = 2}}}}};
  config.save_all = false;
  Hook hook(config);
  hook.set_mode(Mode::train);
  const std::vector<float> one = {1};
  const Shape shape = {1};
  for (int i = 0; i < 8; ++i) {
    hook.save_tensor("gradient/w", floats(one, shape));
    hook.save_tensor("loss_output", floats(one, shape));
    hook.save_tensor("mine", floats(one, shape), {"custom"});
    hook.next_step();
  }
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  CHECK(trial.tensor("gradient/w").steps().size() == 4);   // 0 2 4 6
  CHECK(trial.tensor("loss_output").steps().size() == 2);  // 0 4
  CHECK(trial.tensor("mine").steps().size() == 2);
  CHECK(trial.collection("custom")->tensor_names == std::vector<std::string>{"mine"});
  CHECK(trial.collection("gradients")->save_config.at(Mode::train).save_interval == 2);
  CHECK(trial.collection("gradients")->save_config.at(Mode::eval).save_interval == 4);
  CHECK(trial.collection("losses")->tensor_names == std::vector<std::string>{"loss_output"});
}

TEST_CASE("the default is each 500th step") {
  const TempDir folder;
  Hook hook({.out_dir = folder / "run"});
  const std::vector<float> one = {1};
  const Shape shape = {1};
  int saved = 0;
  for (int i = 0; i < 1001; ++i) {
    saved += hook.save_tensor("x", floats(one, shape)) ? 1 : 0;
    hook.next_step();
  }
  CHECK(saved == 3);  // 0, 500, 1000
}

TEST_CASE("a step that exists is refused, or joined") {
  const TempDir folder;
  const std::vector<float> one = {1};
  const std::vector<float> two = {2, 2};
  const Shape shape = {1};
  const Shape pair = {2};
  HookConfig running = every_step(folder);
  running.end_marker = false;
  {
    Hook hook(running);
    hook.set_step(GlobalStep(5), Mode::train, ModeStep(3));
    hook.save_tensor("a", floats(one, shape), {"first"});
    hook.close();
  }
  const std::string index = test::read_file(folder / "run/index/000000000/000000000005_worker_0.json");
  {
    Hook hook(running);
    hook.set_step(GlobalStep(5), Mode::train, ModeStep(3));
    CHECK_THROWS_AS(hook.save_tensor("b", floats(two, pair)), StepAlreadySaved);
    CHECK_THROWS_AS(hook.save_shape("b", pair), StepAlreadySaved);
    hook.close();
  }
  CHECK(test::read_file(folder / "run/index/000000000/000000000005_worker_0.json") == index);
  HookConfig appending = every_step(folder);
  appending.existing_step = ExistingStep::append;
  {
    Hook hook(appending);
    hook.set_step(GlobalStep(5), Mode::eval, ModeStep(3));
    CHECK_THROWS_AS(hook.save_tensor("b", floats(two, pair)), StepAlreadySaved);  // it is a step of training
    hook.set_step(GlobalStep(5), Mode::train, ModeStep(3));
    hook.save_tensor("b", floats(two, pair), {"second"});
    hook.save_tensor("a", floats(two, pair));
    hook.close();
  }
  const Trial trial = Trial::open(folder / "run");
  CHECK(trial.tensor_names() == std::vector<std::string>{"a", "b"});
  CHECK(trial.tensor("a").value(GlobalStep(5)).shape() == pair);  // the last one counts
  CHECK(trial.tensor("b").value(GlobalStep(5)).shape() == pair);
  CHECK(trial.collection("first")->tensor_names == std::vector<std::string>{"a"});
  CHECK(trial.collection("second")->tensor_names == std::vector<std::string>{"b"});
  CHECK(sound(folder / "run"));
}

TEST_CASE("appending to a step of which no record has a byte keeps its event file") {
  const TempDir folder;
  const std::string events = folder / "run/events/000000000005/000000000005_worker_0.tfevents";
  HookConfig config = every_step(folder);
  {
    Hook hook(config);
    hook.set_step(GlobalStep(5), Mode::train, ModeStep(3));
    hook.save_scalar("a", 1);
    hook.close();
  }
  (void)folder.write("run/index/000000000/000000000005_worker_0.json",
                     R"({"meta":{"mode":"TRAIN","mode_step":3,"event_file_name":)"
                     R"("events/000000000005/000000000005_worker_0.tfevents"},)"
                     R"("tensor_payload":[{"tensorname":"a","start_idx":0,"length":0}],"shape_payload":[]})");
  REQUIRE(std::filesystem::exists(events));
  config.existing_step = ExistingStep::append;
  {
    Hook hook(config);
    hook.set_step(GlobalStep(5), Mode::train, ModeStep(3));
    hook.save_shape("s", {2, 3});
    hook.close();
  }
  CHECK(std::filesystem::exists(events));
  CHECK(Trial::open(folder / "run").tensor("s").shape(GlobalStep(5)) == Shape{2, 3});
}

// The reference's test_outdir_non_sagemaker.
TEST_CASE("the trial of a job that has ended is refused, unless the hook adds to it") {
  const TempDir folder;
  const test::CaughtLog log;
  const std::vector<float> one = {1};
  const Shape shape = {1};
  const auto save = [&](const HookConfig& config, std::int64_t step) {
    Hook hook(config);
    hook.set_step(GlobalStep(step), Mode::global, ModeStep(step));
    hook.save_tensor("a", floats(one, shape));
    hook.close();
  };
  const HookConfig config = every_step(folder);
  save(config, 0);
  CHECK_THROWS_WITH_AS(save(config, 1),
                       (config.out_dir + ": this is the trial of a job that has ended: save into another folder or as "
                                         "another worker, or remove training_job_end.ts to go on with it")
                           .c_str(),
                       InvalidArgument);
  CHECK(log.lines.empty());
  HookConfig adding = config;
  adding.existing_step = ExistingStep::append;
  save(adding, 1);
  HookConfig marked_elsewhere = config;
  marked_elsewhere.end_marker = false;
  save(marked_elsewhere, 2);
  HookConfig other_worker = config;
  other_worker.worker = "worker_1";
  save(other_worker, 2);
  CHECK(log.lines ==
        std::vector<std::string>(3, "warning: " + config.out_dir +
                                        ": the job is marked as over: programs that follow it have stopped "
                                        "and miss what is saved now"));
  std::filesystem::remove(folder / "run/training_job_end.ts");
  save(config, 3);
  CHECK(Trial::open(config.out_dir).steps().size() == 4);
}

TEST_CASE("a step is refused also while its files are on their way") {
  const TempDir folder;
  Hook hook(every_step(folder));
  const std::vector<float> values(200'000, 1.0F);
  const Shape shape = {200'000};
  for (int round = 0; round < 20; ++round) {
    hook.set_step(GlobalStep(2 * round), Mode::global, ModeStep(2 * round));
    hook.save_tensor("a", floats(values, shape));
    hook.set_step(GlobalStep(2 * round + 1), Mode::global, ModeStep(2 * round + 1));
    hook.save_scalar("b", 1);
    hook.set_step(GlobalStep(2 * round), Mode::global, ModeStep(2 * round));
    CHECK_THROWS_AS(hook.save_scalar("late", 1), StepAlreadySaved);
  }
  hook.close();
  CHECK(Trial::open(folder / "run").tensor("a").steps().size() == 20);
}

TEST_CASE("a hook that adds to its own steps refuses those of others") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.existing_step = ExistingStep::append_own;
  config.end_marker = false;
  const auto save = [](Hook& hook, std::int64_t step, const std::string& name, double value) {
    hook.set_step(GlobalStep(step), Mode::global, ModeStep(step));
    hook.save_scalar(name, value);
  };
  {
    Hook hook(config);
    for (std::int64_t step = 0; step < 4; ++step) {
      save(hook, step, "a", 1);
    }
    save(hook, 2, "a", 2);
    save(hook, 2, "b", 3);
    hook.close();
  }
  Hook other(config);
  CHECK_THROWS_AS(save(other, 3, "a", 4), StepAlreadySaved);
  save(other, 4, "a", 5);
  save(other, 4, "a", 6);
  other.close();
  const Trial trial = Trial::open(folder / "run");
  const auto saved = [&](const char* name, std::int64_t step) {
    return number(trial.tensor(name).value(GlobalStep(step)));
  };
  CHECK(saved("scalar/a", 1) == 1);
  CHECK(saved("scalar/a", 2) == 2);
  CHECK(saved("scalar/b", 2) == 3);
  CHECK(saved("scalar/a", 3) == 1);
  CHECK(saved("scalar/a", 4) == 6);
  CHECK(sound(folder / "run"));
}

TEST_CASE("what cannot be saved is refused") {
  const TempDir folder;
  Hook hook(every_step(folder));
  const std::vector<float> two = {1, 2};
  const Shape three = {3};
  const Shape negative = {-1};
  CHECK_THROWS_AS(hook.save_tensor("x", floats(two, three)), InvalidArgument);
  CHECK_THROWS_AS(hook.save_tensor("x", floats(two, negative)), InvalidArgument);
  const std::byte code{};
  CHECK_THROWS_AS(hook.save_tensor("x", TensorView(Dtype::float8_e4m3fn, Shape{}, std::span(&code, 1))),
                  InvalidArgument);
  const Shape pair = {2};
  CHECK_THROWS_AS(hook.save_tensor("\xFF", floats(two, pair)), InvalidArgument);
  CHECK_THROWS_AS(hook.save_tensor(std::string(70'000, 'n'), floats(two, pair)), InvalidArgument);
  CHECK_THROWS_AS(hook.set_step(GlobalStep(-1), Mode::train, ModeStep(0)), InvalidArgument);
  CHECK_THROWS_AS(hook.set_step(GlobalStep(4), Mode::global, ModeStep(2)), InvalidArgument);
  const std::vector<std::byte> cut = {std::byte{5}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{'a'}};
  const Shape one = {1};
  CHECK_THROWS_AS(hook.save_tensor("s", {Dtype::string, one, cut}), InvalidArgument);
  for (const std::string& worker :
       {std::string(), std::string("a/b"), std::string("_x"), std::string("a\0b", 3), std::string("/job:my-worker")}) {
    HookConfig config = every_step(folder);
    config.worker = worker;
    CAPTURE(worker);
    CHECK_THROWS_AS(Hook{config}, InvalidArgument);
  }
  const std::vector<std::string> not_utf8 = {"\xFF"};
  CHECK_THROWS_AS(hook.save_tensor("y", floats(two, pair), not_utf8), InvalidArgument);
  hook.close();
  CHECK_THROWS_AS(hook.save_scalar("late", 1), InvalidArgument);
  CHECK(sound(folder / "run"));  // nothing of the above is in the collections file
}

TEST_CASE("a value that is refused leaves no shape behind") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.reduction_config = ReductionConfig{.save_raw_tensor = true, .save_shape = true};
  Hook hook(config);
  const std::vector<float> two = {1, 2};
  const Shape three = {3};
  const Shape pair = {2};
  CHECK_THROWS_AS(hook.save_tensor("bad", floats(two, three)), InvalidArgument);
  CHECK(hook.save_tensor("good", floats(two, pair)));
  hook.close();
  CHECK(Trial::open(folder / "run").tensor_names() == std::vector<std::string>{"good"});
}

TEST_CASE("configurations that cannot be") {
  const TempDir folder;
  const auto refused = [&](auto change) {
    HookConfig config = every_step(folder);
    change(config);
    CHECK_THROWS_AS(Hook{config}, InvalidArgument);
  };
  refused([](HookConfig& config) { config.save_config = SaveConfigMode{.save_interval = 0}; });
  refused([](HookConfig& config) { config.reduction_config = ReductionConfig{}; });
  refused([](HookConfig& config) { config.reduction_config = ReductionConfig{.reductions = {"p50"}}; });
  refused([](HookConfig& config) { config.include_regex = {"("}; });
  refused([](HookConfig& config) { config.collections = {{.name = ""}}; });
  refused([](HookConfig& config) { config.num_workers = 0; });
  refused([](HookConfig& config) { config.out_dir = ""; });
}

TEST_CASE("a small queue holds everything up, and loses nothing") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.queue_bytes = 1;
  const std::vector<float> values(10'000, 1.5F);
  const Shape shape = {10'000};
  Hook hook(config);
  for (int step = 0; step < 50; ++step) {
    for (int i = 0; i < 4; ++i) {
      hook.save_tensor("t" + std::to_string(i), floats(values, shape));
    }
    hook.next_step();
  }
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  CHECK(trial.steps().size() == 50);
  CHECK(trial.summaries().size() == 4);
  CHECK(sound(folder / "run"));
}

TEST_CASE("nothing saved: collections and the end marker, which a reader takes for an empty trial") {
  const TempDir folder;
  { const Hook hook(every_step(folder)); }
  const Trial trial = Trial::open(folder / "run");
  CHECK(trial.ended());
  CHECK(trial.steps().empty());
  CHECK(trial.collections().contains("weights"));
}

TEST_CASE("a value that owns its elements is kept until it is written, and no longer") {
  const TempDir folder;
  const auto elements = std::shared_ptr<float[]>(new float[1 << 20]());
  const std::shared_ptr<const std::byte[]> bytes(elements, reinterpret_cast<const std::byte*>(elements.get()));
  elements[12345] = 0.5F;
  Hook hook(every_step(folder));
  CHECK(hook.save_tensor("x", TensorValue(Dtype::float32, {1 << 20}, bytes, 4 << 20)));
  hook.flush();
  CHECK(elements.use_count() == 2);  // here: `elements` and `bytes`
  hook.close();
  const TensorValue saved = Trial::open(folder / "run").tensor("x").value(GlobalStep(0));
  REQUIRE(saved.bytes().size() == 4 << 20);
  CHECK(std::memcmp(saved.bytes().data(), elements.get(), 4 << 20) == 0);
}

TEST_CASE("elements that are read while they are written come back") {
  const TempDir folder;
  const Shape shape = {3 << 20};  // of several blocks, the last one not full
  std::vector<std::byte> bytes((6 << 20) + (3 << 19));
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same in every run
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random() % 256); });
  bytes.resize(6 << 20);
  std::uint64_t next = 0;
  const ReadElements read = [&](std::uint64_t offset, std::span<std::byte> into) {
    CHECK(offset == next);
    next += into.size();
    std::memcpy(into.data(), bytes.data() + offset, into.size());
  };
  for (const bool checksum : {false, true}) {
    CAPTURE(checksum);
    HookConfig config = every_step(folder);
    config.out_dir = folder / (checksum ? "checked" : "unchecked");
    config.checksum = checksum;
    next = 0;
    Hook hook(config);
    CHECK(hook.save_tensor("x", Dtype::int16, shape, read));
    hook.close();
    CHECK(next == bytes.size());
    CHECK(sound(config.out_dir));
    CHECK(same(Trial::open(config.out_dir).tensor("x").value(GlobalStep(0)), Dtype::int16, shape, bytes));
  }
}

TEST_CASE("elements that are read are reduced like others") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.reduction_config = ReductionConfig{.reductions = {"max"}};
  Hook hook(config);
  CHECK(hook.save_tensor("x", Dtype::uint8, {4}, [](std::uint64_t offset, std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size(); ++i) {
      into[i] = static_cast<std::byte>(10 + offset + i);  // 10, 11, 12, 13
    }
  }));
  hook.close();
  const TensorValue max = Trial::open(folder / "run").tensor("x").reduction_value(GlobalStep(0), "max");
  REQUIRE(max.dtype() == Dtype::int64);
  std::int64_t largest = 0;
  std::memcpy(&largest, max.bytes().data(), sizeof largest);
  CHECK(largest == 13);
}

TEST_CASE("elements that cannot be read are a failure to write") {
  const TempDir folder;
  Hook hook(every_step(folder));
  CHECK(hook.save_tensor("x", Dtype::uint8, {4}, [](std::uint64_t offset, std::span<std::byte>) {
    throw ReadError({ProblemKind::damaged, "x.npy", offset, "became shorter"});
  }));
  try {
    hook.flush();
    FAIL("nothing was thrown");
  } catch (const WriteError& error) {
    CHECK(error.problem.file == "x.npy");
    CHECK(error.problem.text == "became shorter");
  }
  CHECK_THROWS_AS(hook.close(), WriteError);
  CHECK(!std::filesystem::exists(folder / "run/index"));

  Hook other({.out_dir = folder / "other", .save_config = SaveConfigMode{.save_interval = 1}});
  CHECK_THROWS_AS(other.save_tensor("s", Dtype::string, {1}, [](std::uint64_t, std::span<std::byte>) {}),
                  InvalidArgument);
  CHECK_THROWS_AS(other.save_tensor("l", Dtype::uint8, {3LL << 30}, [](std::uint64_t, std::span<std::byte>) {}),
                  InvalidArgument);
  CHECK(other.save_tensor("y", Dtype::uint8, {1},
                          [](std::uint64_t, std::span<std::byte>) { throw std::runtime_error("no more of it"); }));
  CHECK_THROWS_AS(other.flush(), WriteError);
  Hook third({.out_dir = folder / "third", .save_config = SaveConfigMode{.save_interval = 1}});
  CHECK(third.save_tensor("z", Dtype::uint8, {1}, [](std::uint64_t, std::span<std::byte>) { throw 5; }));
  CHECK_THROWS_AS(third.flush(), WriteError);
}

TEST_CASE("a value may be changed once the call returns") {
  const TempDir folder;
  Hook hook(every_step(folder));
  std::vector<float> values(1000);
  const Shape shape = {1000};
  for (int step = 0; step < 100; ++step) {
    std::fill(values.begin(), values.end(), static_cast<float>(step));
    hook.save_tensor("x", floats(values, shape));
    hook.next_step();
  }
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  for (int step = 0; step < 100; ++step) {
    const TensorValue value = trial.tensor("x").value(GlobalStep(step));
    const std::vector<float> expected(1000, static_cast<float>(step));
    CHECK(same(value, Dtype::float32, shape, std::as_bytes(std::span(expected))));
  }
}

TEST_CASE("a name that readers take for a reduction of another tensor is refused") {
  const TempDir folder;
  const std::vector<float> one = {1};
  {
    Hook hook(every_step(folder));
    for (const char* const name : {"smdebug/reductions/x", "smdebug/reductions/", "before/smdebug/reductions/mean",
                                   "scalar/smdebug/reductions/x", "before/smdebug/reductions/mean/x",
                                   "smdebug/reductions//x", "smdebug/reductions/mean/smdebug/reductions/max/x"}) {
      CAPTURE(name);
      CHECK_THROWS_AS(hook.save_tensor(name, floats(one, {1})), InvalidArgument);
      CHECK_THROWS_AS(hook.save_shape(name, {1}), InvalidArgument);
    }
    CHECK_THROWS_AS(hook.save_scalar("smdebug/reductions/x", 1), InvalidArgument);
    for (const char* const name : {"smdebug/reductions/mean/x", "smdebug/reductions", "reductions/x"}) {
      CHECK(hook.save_tensor(name, floats(one, {1})));
    }
    hook.close();
  }
  CHECK(Trial::open(folder / "run").tensor_names() ==
        std::vector<std::string>{"reductions/x", "smdebug/reductions", "x"});
}

TEST_CASE("a reduction that the program has computed is saved as it is") {
  const TempDir folder;
  const std::vector<float> one = {1};
  {
    HookConfig config = every_step(folder);
    config.reduction_config = ReductionConfig{.save_shape = true, .reductions = {"max"}};  // of all other tensors
    Hook hook(config);
    CHECK(hook.save_tensor("smdebug/reductions/mean/x", floats(one, {1})));
    hook.close();
  }
  const Trial trial = Trial::open(folder / "run");
  CHECK(trial.tensor_names() == std::vector<std::string>{"x"});
  const auto saved = trial.tensor("x").reduction_values(GlobalStep(0));
  CHECK(saved.size() == 1);
  CHECK(same(saved.at("mean"), Dtype::float32, {1}, std::as_bytes(std::span(one))));
}

}  // namespace
}  // namespace smd
