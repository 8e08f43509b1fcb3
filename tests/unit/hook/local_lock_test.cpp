// SPDX-License-Identifier: Apache-2.0
// Several processes, or several hooks of one, that save into a trial at the same time.
#include <smd/hook.hpp>
#include <smd/trial.hpp>

#include "hook/src/hook_impl.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {
std::atomic<bool> always_interrupted = false;
}  // namespace

/// In place of the C library's: a file system whose locks signals interrupt again and again.
extern "C" int flock(int descriptor, int operation) noexcept {
  if (always_interrupted) {
    errno = EINTR;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}

namespace smd {
namespace {

using detail::hook::LockPlace;
using detail::hook::open_local_output;
using detail::hook::Output;
using test::TempDir;

std::unique_ptr<Output> open(const std::string& path, LockPlace place) {
  auto output = open_local_output(path, {.best_lock = place});
  REQUIRE(output);
  return std::move(*output);
}

HookConfig every_step(const std::string& path) {
  return {.out_dir = path, .save_config = SaveConfigMode{.save_interval = 1}, .end_marker = false};
}

Hook hook_on(const HookConfig& config, LockPlace place) {
  return Hook(std::make_unique<Hook::Impl>(config, open(config.out_dir, place), nullptr, detail::system_clock()));
}

void save_number(Hook& hook, const std::string& name, double number, const std::vector<std::string>& collections = {}) {
  REQUIRE(hook.save_tensor(name, {Dtype::float64, {}, std::as_bytes(std::span(&number, 1))}, collections));
}

double number(const Trial& trial, const std::string& name, std::int64_t step) {
  const TensorValue value = trial.tensor(name).value(GlobalStep(step));
  REQUIRE(value.dtype() == Dtype::float64);
  double result = 0;
  std::memcpy(&result, value.bytes().data(), sizeof result);
  return result;
}

bool sound(const std::string& path) {
  bool clean = true;
  const CheckReport report = check_trial(path, {}, [&](const Problem& problem) {
    MESSAGE(to_string(problem));
    clean = false;
  });
  return clean && !report.damaged;
}

/// Each in a process of its own, all at once; whether each returned true.
bool all_at_once(int count, const std::function<bool(int)>& work) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      bool good = false;
      try {
        good = work(i);
      } catch (...) {
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return good;
}

TEST_CASE("lock: one at a time, on the folder and on a file in it") {
  for (const LockPlace place : {LockPlace::folder, LockPlace::file}) {
    const TempDir dir;
    const auto one = open(dir / "trial", place);
    const auto two = open(dir / "trial", place);
    CHECK(one->why_no_lock().empty());
    auto held = one->lock(std::chrono::seconds(0));
    REQUIRE(held);
    const auto refused = two->lock(std::chrono::milliseconds(5));
    REQUIRE_FALSE(refused);
    CHECK(refused.problem().file == dir / "trial");
    CHECK(refused.problem().text ==
          "cannot be written: another process has held the trial's lock for longer than 0.005 s");
    CHECK(open(dir / "trial", place)->why_no_lock().empty());  // held is not missing
    held->reset();
    CHECK(two->lock(std::chrono::seconds(0)));
    CHECK(std::filesystem::exists(dir / "trial/lock.smd") == (place == LockPlace::file));
  }
}

TEST_CASE("lock: signals that come again and again do not prolong the wait") {
  const TempDir dir;
  always_interrupted = true;
  const auto output = open(dir / "trial", LockPlace::folder);
  CHECK(output->why_no_lock().empty());
  const auto refused = output->lock(std::chrono::milliseconds(5));
  always_interrupted = false;
  REQUIRE_FALSE(refused);
  CHECK(refused.problem().text ==
        "cannot be written: signals have kept us from the trial's lock for longer than 0.005 s");
  CHECK(output->lock(std::chrono::seconds(0)));
}

TEST_CASE("lock: what asks to stop ends the wait") {
  const TempDir dir;
  const auto one = open(dir / "trial", LockPlace::folder);
  const auto two = open(dir / "trial", LockPlace::folder);
  const auto held = one->lock(std::chrono::seconds(0));
  REQUIRE(held);
  int asked = 0;
  const auto refused = two->lock(std::chrono::hours(1), [&asked] { return ++asked == 3; });
  REQUIRE_FALSE(refused);
  CHECK(asked == 3);
  CHECK(refused.problem().text == "cannot be written: stopped while another process held the trial's lock");
}

TEST_CASE("lock: a link or a FIFO in the lock file's place is not opened") {
  const TempDir dir;
  dir.make_dir("link");
  dir.make_dir("fifo");
  REQUIRE(::symlink((dir / "victim").c_str(), (dir / "link/lock.smd").c_str()) == 0);
  REQUIRE(::mkfifo((dir / "fifo/lock.smd").c_str(), 0600) == 0);
  CHECK_FALSE(open(dir / "link", LockPlace::file)->why_no_lock().empty());
  CHECK_FALSE(open(dir / "fifo", LockPlace::file)->why_no_lock().empty());
  CHECK_FALSE(std::filesystem::exists(dir / "victim"));
}

TEST_CASE("lock: the lock file is no stray and no damage") {
  const TempDir dir;
  {
    Hook hook = hook_on(every_step(dir / "trial"), LockPlace::file);
    save_number(hook, "a", 1);
    hook.close();
  }
  CHECK(std::filesystem::exists(dir / "trial/lock.smd"));
  CHECK(sound(dir / "trial"));
}

TEST_CASE("lock: where there is none, what is not safe is refused") {
  const TempDir dir;
  HookConfig config = every_step(dir / "trial");
  {
    Hook hook = hook_on(config, LockPlace::none);
    save_number(hook, "a", 1);
    hook.close();
  }
  config.lock = LockPolicy::required;
  try {
    hook_on(config, LockPlace::none);
    FAIL("there is no lock");
  } catch (const WriteError& error) {
    CHECK(error.problem.file == dir / "trial");
    CHECK(error.problem.text.find("cannot be locked") == 0);
    CHECK(error.problem.text.find("--no-lock") != std::string::npos);
  }
  config.existing_step = ExistingStep::append;
  config.lock = LockPolicy::if_possible;
  CHECK_THROWS_AS(hook_on(config, LockPlace::none), WriteError);
  config.lock = LockPolicy::none;
  Hook hook = hook_on(config, LockPlace::none);
  save_number(hook, "b", 2);
  hook.close();
  CHECK(number(Trial::open(dir / "trial"), "a", 0) == 1);
  CHECK(number(Trial::open(dir / "trial"), "b", 0) == 2);
}

TEST_CASE("lock: a hook gives up after its timeout, and leaves nothing") {
  const TempDir dir;
  const auto other = open(dir / "trial", LockPlace::folder);
  const auto held = other->lock(std::chrono::seconds(0));
  REQUIRE(held);
  HookConfig config = every_step(dir / "trial");
  config.lock_timeout = std::chrono::milliseconds(5);
  Hook hook(config);
  save_number(hook, "a", 1);
  CHECK_THROWS_AS(hook.flush(), WriteError);
  CHECK_THROWS_AS(hook.close(), WriteError);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir / "trial")) {
    CHECK(entry.is_directory());
  }
}

TEST_CASE("a step that another hook saves meanwhile: refused at the end, all others are written") {
  const TempDir dir;
  Hook slow(every_step(dir / "trial"));
  save_number(slow, "a", 1, {"of_slow"});
  {
    Hook quick(every_step(dir / "trial"));
    save_number(quick, "b", 2, {"of_quick"});
    quick.close();
  }
  slow.next_step();
  save_number(slow, "a", 3, {"of_slow"});
  try {
    slow.close();
    FAIL("the step was saved twice");
  } catch (const StepAlreadySaved& error) {
    CHECK(error.step == GlobalStep(0));
    CHECK(std::string(error.what()).find("step 0 of worker 'worker_0' has been saved before") == 0);
  }
  slow.close();  // said once
  const Trial trial = Trial::open(dir / "trial");
  CHECK(trial.steps().size() == 2);
  CHECK(number(trial, "b", 0) == 2);
  CHECK(number(trial, "a", 1) == 3);
  CHECK(trial.tensor("a").steps().size() == 1);
  CHECK(trial.collections().at("of_slow").tensor_names == std::vector<std::string>{"a"});
  CHECK(trial.collections().at("of_quick").tensor_names == std::vector<std::string>{"b"});
  CHECK(sound(dir / "trial"));
}

TEST_CASE("a refused step alone changes nothing, not even the collections") {
  const TempDir dir;
  Hook slow(every_step(dir / "trial"));
  save_number(slow, "a", 1, {"of_slow"});
  {
    Hook quick(every_step(dir / "trial"));
    save_number(quick, "b", 2);
    quick.close();
  }
  CHECK_THROWS_AS(slow.flush(), StepAlreadySaved);
  slow.close();
  CHECK_FALSE(Trial::open(dir / "trial").collections().contains("of_slow"));
  CHECK(sound(dir / "trial"));
}

TEST_CASE("appending to a step that another hook saves meanwhile joins it") {
  const TempDir dir;
  HookConfig config = every_step(dir / "trial");
  config.existing_step = ExistingStep::append;
  Hook slow(config);
  save_number(slow, "a", 1);
  save_number(slow, "both", 10);
  {
    Hook quick(config);
    save_number(quick, "b", 2);
    save_number(quick, "both", 20);
    quick.save_shape("s", {2, 3});
    quick.close();
  }
  slow.close();
  const Trial trial = Trial::open(dir / "trial");
  CHECK(number(trial, "a", 0) == 1);
  CHECK(number(trial, "b", 0) == 2);
  CHECK(number(trial, "both", 0) == 10);  // what is put in its place later counts
  CHECK(trial.tensor("s").shape(GlobalStep(0)) == Shape{2, 3});
  CHECK(sound(dir / "trial"));
}

TEST_CASE("many processes at once: one worker's different steps keep all collections") {
  for (const LockPlace place : {LockPlace::folder, LockPlace::file}) {
    for (int round = 0; round < 10; ++round) {
      const TempDir dir;
      REQUIRE(all_at_once(6, [&](int i) {
        Hook hook = hook_on(every_step(dir / "trial"), place);
        hook.set_step(GlobalStep(i), Mode::global, ModeStep(i));
        save_number(hook, "t" + std::to_string(i), i, {"c" + std::to_string(i)});
        hook.close();
        return true;
      }));
      const Trial trial = Trial::open(dir / "trial");
      REQUIRE(trial.steps().size() == 6);
      for (int i = 0; i < 6; ++i) {
        REQUIRE(trial.collections().contains("c" + std::to_string(i)));
        REQUIRE(number(trial, "t" + std::to_string(i), i) == i);
      }
      REQUIRE(sound(dir / "trial"));
    }
  }
}

TEST_CASE("many processes at once: appending to one step loses nothing") {
  for (int round = 0; round < 15; ++round) {
    const TempDir dir;
    REQUIRE(all_at_once(6, [&](int i) {
      HookConfig config = every_step(dir / "trial");
      config.existing_step = ExistingStep::append;
      Hook hook(config);
      save_number(hook, "t" + std::to_string(i), i);
      hook.close();
      return true;
    }));
    const Trial trial = Trial::open(dir / "trial");
    for (int i = 0; i < 6; ++i) {
      REQUIRE(number(trial, "t" + std::to_string(i), 0) == i);
    }
    REQUIRE(sound(dir / "trial"));
  }
}

TEST_CASE("many processes at once: of one step that is not appended to, one saves it") {
  for (int round = 0; round < 15; ++round) {
    const TempDir dir;
    std::filesystem::create_directory(dir / "won");
    REQUIRE(all_at_once(6, [&](int i) {
      try {
        Hook hook(every_step(dir / "trial"));
        save_number(hook, "t" + std::to_string(i), i);
        hook.close();
        std::filesystem::create_directory(dir / "won/" + std::to_string(i));
      } catch (const StepAlreadySaved&) {
      }
      return true;
    }));
    REQUIRE(std::distance(std::filesystem::directory_iterator(dir / "won"), {}) == 1);
    const std::string winner = std::filesystem::directory_iterator(dir / "won")->path().filename();
    const Trial trial = Trial::open(dir / "trial");
    REQUIRE(trial.tensor_names() == std::vector<std::string>{"t" + winner});
    REQUIRE(sound(dir / "trial"));
  }
}

TEST_CASE("many processes at once: workers that end together leave one end marker") {
  for (int round = 0; round < 15; ++round) {
    const TempDir dir;
    REQUIRE(all_at_once(4, [&](int i) {
      HookConfig config = every_step(dir / "trial");
      config.worker = "worker_" + std::to_string(i);
      config.num_workers = 4;
      config.end_marker = true;
      Hook hook(config);
      save_number(hook, "loss", i);
      hook.close();
      return true;
    }));
    REQUIRE(Trial::open(dir / "trial").ended());
    REQUIRE(sound(dir / "trial"));
  }
}

}  // namespace
}  // namespace smd
