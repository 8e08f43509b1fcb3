// SPDX-License-Identifier: Apache-2.0
// Hooks that save nothing, and what decides it; what a configuration asks of TensorBoard.
#include <smd/hook.hpp>
#include <smd/trial.hpp>

#include "support/caught_log.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>

namespace smd {
namespace {

using test::TempDir;

constexpr std::array<float, 3> numbers = {1, 2, 3};

TensorView three() {
  static const Shape shape = {3};
  return {Dtype::float32, shape, std::as_bytes(std::span(numbers))};
}

HookConfig every_step(const TempDir& folder) {
  return {.out_dir = folder / "run", .save_config = SaveConfigMode{.save_interval = 1}};
}

/// Saves in all the ways there are. Returns whether the hook says that it saved.
bool use(Hook& hook) {
  CHECK(hook.step() == GlobalStep(0));
  const bool saved = hook.save_tensor("w", three());
  hook.save_scalar("lr", 0.5);
  hook.save_shape("s", {2, 2});
  hook.next_step();
  CHECK(hook.step() == GlobalStep(1));
  hook.flush();
  hook.close();
  return saved;
}

bool made_something(const TempDir& folder) { return !std::filesystem::is_empty(folder.path()); }

/// With a variable of the environment, and without it again.
template <class Use>
void with_environment(const char* name, const char* value, const Use& work) {
  setenv(name, value, 1);
  work();
  unsetenv(name);
}

TEST_CASE("a hook that is not enabled saves nothing and makes no folder") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.enabled = false;
  config.tensorboard_dir = folder / "board";
  Hook hook(config);
  CHECK_FALSE(hook.enabled());
  CHECK_FALSE(hook.wants("w"));
  CHECK_FALSE(use(hook));
  CHECK_FALSE(made_something(folder));
}

TEST_CASE("a dry run answers as it would otherwise, and makes no folder") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.save_config = SaveConfigMode{.save_interval = 2};
  config.dry_run = true;
  config.export_tensorboard = true;
  Hook hook(config);
  CHECK(hook.enabled());
  CHECK(hook.wants("w"));
  CHECK_THROWS_AS(hook.save_tensor("w", TensorView(Dtype::float64, {}, std::as_bytes(std::span(numbers)))),
                  InvalidArgument);
  CHECK(hook.save_tensor("w", three()));
  hook.next_step();
  CHECK_FALSE(hook.wants("w"));
  CHECK_FALSE(hook.save_tensor("w", three()));
  hook.save_scalar("lr", 0.5);
  hook.close();
  CHECK_FALSE(made_something(folder));
}

TEST_CASE("USE_SMDEBUG switches a hook off, in the reference's words") {
  for (const char* const word : {"0", "OFF", "off", "No", "n", "FALSE"}) {
    CAPTURE(word);
    const TempDir folder;
    with_environment("USE_SMDEBUG", word, [&] {
      Hook hook(every_step(folder));
      CHECK_FALSE(hook.enabled());
      CHECK_FALSE(use(hook));
    });
    CHECK_FALSE(made_something(folder));
  }
  for (const char* const word : {"", "1", "true", "yes"}) {
    CAPTURE(word);
    const TempDir folder;
    with_environment("USE_SMDEBUG", word, [&] {
      Hook hook(every_step(folder));
      CHECK(use(hook));
    });
    CHECK(made_something(folder));
  }
}

TEST_CASE("include_workers one: only the first worker writes, and it is the only one that is waited for") {
  for (const char* const worker : {"worker_0", "algo-1", "trainer", "/replica:0/task:0/device:GPU:0"}) {
    CAPTURE(worker);
    const TempDir folder;
    HookConfig config = every_step(folder);
    config.include_workers = IncludeWorkers::one;
    config.worker = worker;
    config.num_workers = 4;
    Hook hook(config);
    CHECK(use(hook));
    const Trial trial = Trial::open(folder / "run");
    CHECK(trial.num_workers() == 1);
    CHECK(trial.workers() == std::vector<std::string>{worker});
  }
  for (const char* const worker : {"worker_1", "worker_10", "algo-2", "/replica:0/task:0/device:GPU:1"}) {
    CAPTURE(worker);
    const TempDir folder;
    HookConfig config = every_step(folder);
    config.include_workers = IncludeWorkers::one;
    config.worker = worker;
    Hook hook(config);
    CHECK_FALSE(hook.enabled());
    CHECK_FALSE(use(hook));
    CHECK_FALSE(made_something(folder));
  }
}

TEST_CASE("a folder for TensorBoard alone is enough to export") {
  const TempDir folder;
  HookConfig config = every_step(folder);
  config.tensorboard_dir = folder / "board";
  Hook hook(config);
  CHECK(use(hook));
  CHECK(std::filesystem::is_directory(folder / "board/GLOBAL"));
}

TEST_CASE("a hook warns once that histograms leave out elements that are not finite") {
  const TempDir folder;
  const test::CaughtLog log(LogLevel::warning);
  HookConfig config = every_step(folder);
  config.export_tensorboard = true;
  config.end_marker = false;
  Hook hook(config);
  const std::array<double, 3> sick = {1, std::numeric_limits<double>::quiet_NaN(),
                                      -std::numeric_limits<double>::infinity()};
  const Shape shape = {3};
  hook.save_tensor("well", three());
  CHECK(log.lines.empty());
  for (const char* const name : {"sick", "other"}) {
    hook.save_tensor(name, TensorView(Dtype::float64, shape, std::as_bytes(std::span(sick))));
  }
  hook.next_step();
  hook.close();
  CHECK(log.lines == std::vector<std::string>{"warning: histograms for TensorBoard leave out elements that are not "
                                              "finite: 2 of 'sick' at step 0"});
}

/// Bytes that TensorBoard got of one step with the tensor `w`.
std::uintmax_t exported(const TempDir& folder, std::optional<bool> of_hook, std::optional<bool> of_collection) {
  HookConfig config = every_step(folder);
  config.out_dir = folder / (std::to_string(of_hook.value_or(true)) + std::to_string(of_collection.has_value()));
  config.tensorboard_dir = config.out_dir + "/board";
  config.save_histogram = of_hook;
  config.collections = {{.name = "mine", .include_regex = {"w"}, .save_histogram = of_collection}};
  Hook hook(config);
  CHECK(hook.save_tensor("w", three()));
  hook.close();
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(config.tensorboard_dir)) {
    bytes += file.is_regular_file() ? file.file_size() : 0;
  }
  return bytes;
}

TEST_CASE("save_histogram of the hook is for collections that do not say so themselves") {
  const TempDir folder;
  CHECK(exported(folder, {}, {}) > 0);
  CHECK(exported(folder, false, {}) == 0);
  CHECK(exported(folder, false, true) > 0);
}

}  // namespace
}  // namespace smd
