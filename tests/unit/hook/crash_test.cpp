// SPDX-License-Identifier: Apache-2.0
// A hook whose process dies, or whose disk fails, at any of the things that it does to the disk.
#include <smd/hook.hpp>
#include <smd/trial.hpp>

#include "hook/src/hook_impl.hpp"
#include "support/caught_log.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>

namespace smd {
namespace {

using detail::Outcome;
using detail::Status;
using detail::hook::Output;
using detail::hook::OutputLock;
using detail::hook::PendingFile;
using test::TempDir;

constexpr int steps = 5;
constexpr std::size_t elements = 20'000;  // more than what is gathered before it is written

enum class Fault : std::uint8_t { die, fail, fail_from_then_on };

/// Counts what is done to the disk; the n-th time, dies (in the middle of a write) or fails.
class Faults {
 public:
  Faults(Fault fault, std::uint64_t at) : fault_(fault), at_(at) {}

  [[nodiscard]] bool is_next() const { return count_ + 1 == at_; }
  bool strike() {
    ++count_;
    if (count_ == at_ && fault_ == Fault::die) {
      ::kill(::getpid(), SIGKILL);
    }
    return count_ == at_ || (count_ > at_ && fault_ == Fault::fail_from_then_on);
  }
  static Problem trouble(const std::string& name) {
    return {ProblemKind::io, name, {}, "cannot be written: no space is left there; free some"};
  }

 private:
  Fault fault_;
  std::uint64_t at_;
  std::uint64_t count_ = 0;
};

class FaultyFile final : public PendingFile {
 public:
  FaultyFile(std::unique_ptr<PendingFile> real, Faults& faults, std::string name)
      : real_(std::move(real)), faults_(faults), name_(std::move(name)) {}

  Status write(std::span<const std::byte> bytes) override {
    if (faults_.is_next()) {
      (void)real_->write(bytes.first(bytes.size() / 2));
    }
    return faults_.strike() ? trouble() : real_->write(bytes);
  }
  Outcome<std::size_t> read_back(std::uint64_t offset, std::span<std::byte> into) override {
    return real_->read_back(offset, into);
  }
  Status sync() override { return faults_.strike() ? trouble() : real_->sync(); }
  Status close() override {
    const bool bad = faults_.strike();
    Status closed = real_->close();
    return bad ? trouble() : std::move(closed);
  }
  Status publish() override { return faults_.strike() ? trouble() : real_->publish(); }
  Status sync_name() override { return faults_.strike() ? trouble() : real_->sync_name(); }

 private:
  [[nodiscard]] Status trouble() const { return Faults::trouble(name_); }

  std::unique_ptr<PendingFile> real_;
  Faults& faults_;
  std::string name_;
};

class FaultyOutput final : public Output {
 public:
  FaultyOutput(std::unique_ptr<Output> real, Fault fault, std::uint64_t at)
      : real_(std::move(real)), faults_(fault, at) {}

  Outcome<std::unique_ptr<PendingFile>> create(const std::string& name) override {
    if (faults_.strike()) {
      return Faults::trouble(name);
    }
    auto real = real_->create(name);
    if (!real) {
      return real;
    }
    return std::unique_ptr<PendingFile>(std::make_unique<FaultyFile>(std::move(*real), faults_, name));
  }
  Outcome<bool> exists(const std::string& name) override { return real_->exists(name); }
  Outcome<std::unique_ptr<detail::storage::File>> open(const std::string& name) override { return real_->open(name); }
  Outcome<std::unique_ptr<detail::storage::Storage>> reader() override { return real_->reader(); }
  Outcome<OutputLock> lock(std::chrono::nanoseconds timeout, const std::function<bool()>& stop) override {
    return real_->lock(timeout, stop);
  }
  [[nodiscard]] std::string why_no_lock() const override { return real_->why_no_lock(); }
  [[nodiscard]] const std::string& root() const noexcept override { return real_->root(); }

 private:
  std::unique_ptr<Output> real_;
  Faults faults_;
};

float element(int step, std::size_t i) { return static_cast<float>(step) * 0.5F + static_cast<float>(i % 97); }

/// The job: two tensors a step.
void train(const std::string& path, Fault fault, std::uint64_t at, SyncPolicy sync) {
  HookConfig config{.out_dir = path, .save_config = SaveConfigMode{.save_interval = 1}};
  config.sync = sync;
  config.end_marker = true;
  auto local = detail::hook::open_local_output(path);
  Hook hook(std::make_unique<Hook::Impl>(config, std::make_unique<FaultyOutput>(std::move(*local), fault, at), nullptr,
                                         detail::system_clock()));
  std::vector<float> values(elements);
  const Shape shape = {static_cast<std::int64_t>(elements)};
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < elements; ++i) {
      values[i] = element(step, i);
    }
    hook.save_tensor("weights/w", {Dtype::float32, shape, std::as_bytes(std::span(values))});
    hook.save_scalar("loss", step);
    hook.next_step();
  }
  hook.close();
}

std::size_t files_named(const std::string& path, std::string_view suffix) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    count += entry.path().string().ends_with(suffix) ? 1 : 0;
  }
  return count;
}

/// Nothing damaged, the steps a prefix, their values whole. Returns how many steps there are.
std::size_t check_sound(const std::string& path) {
  const std::size_t index_files = files_named(path + "/index", ".json");
  std::optional<Trial> trial;
  try {
    trial = Trial::open(path);
  } catch (const MissingCollectionFiles&) {
    CHECK(index_files == 0);
    return 0;
  }
  const CheckReport report = check_trial(
      path, {}, [](const Problem& problem) { CHECK_MESSAGE(problem.kind == ProblemKind::note, to_string(problem)); });
  CHECK_FALSE(report.damaged);
  const auto saved = trial->steps(true);
  CHECK(saved.size() == index_files);
  std::vector<float> expected(elements);
  for (std::size_t s = 0; s < saved.size(); ++s) {
    REQUIRE(saved[s].value == static_cast<std::int64_t>(s));
    const TensorValue value = trial->tensor("weights/w").value(saved[s]);
    for (std::size_t i = 0; i < elements; ++i) {
      expected[i] = element(static_cast<int>(s), i);
    }
    REQUIRE(value.bytes().size() == elements * sizeof(float));
    CHECK(std::memcmp(value.bytes().data(), expected.data(), value.bytes().size()) == 0);
    CHECK(trial->tensor("scalar/loss").value(saved[s]).bytes().size() == sizeof(double));
  }
  CHECK((!trial->ended() || saved.size() == static_cast<std::size_t>(steps)));
  return saved.size();
}

/// In a process of its own; whether it ended by itself.
bool run_and_die(const std::string& path, std::uint64_t at, SyncPolicy sync) {
  std::filesystem::create_directories(path + "/index");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    train(path, Fault::die, at, sync);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) {
    REQUIRE(WTERMSIG(status) == SIGKILL);
    return false;
  }
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  return true;
}

TEST_CASE("killed at the n-th thing done to the disk, for every n") {
  for (const SyncPolicy sync : {SyncPolicy::none, SyncPolicy::files}) {
    std::uint64_t at = 1;
    std::size_t most_steps = 0;
    for (;; ++at) {
      CAPTURE(at);
      const TempDir folder;
      const bool whole = run_and_die(folder / "run", at, sync);
      const std::size_t saved = check_sound(folder / "run");
      CHECK(saved >= most_steps);  // later deaths leave no fewer steps
      most_steps = saved;
      if (whole) {
        CHECK(saved == steps);
        break;
      }
    }
    CHECK(at > steps * 8);  // each step creates, writes, closes and renames two files
  }
}

// SMD_TEST_KILLS=1000 in the environment: so many instead of 300.
TEST_CASE("killed at random moments, and begun again") {
  const char* const wanted = std::getenv("SMD_TEST_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 300;
  REQUIRE(kills > 0);
  std::mt19937 random(42);
  for (int i = 0; i < kills; ++i) {
    const TempDir folder;
    const std::string path = folder / "run";
    std::filesystem::create_directories(path + "/index");
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      train(path, Fault::die, 0, SyncPolicy::none);
      ::_exit(0);
    }
    ::usleep(random() % 6000);  // when it dies is left to chance; nothing is asserted of it
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const std::size_t saved = check_sound(path);
    if (i % 10 == 0 && saved < steps) {
      // What the dead one left is in nobody's way.
      HookConfig config{.out_dir = path, .save_config = SaveConfigMode{.save_interval = 1}};
      Hook again(config);
      again.set_step(GlobalStep(static_cast<std::int64_t>(saved)), Mode::global,
                     ModeStep(static_cast<std::int64_t>(saved)));
      again.save_scalar("loss", 1);
      again.close();
      CHECK(Trial::open(path).steps().size() == saved + 1);
    }
  }
}

TEST_CASE("a disk that fails: said at the next call and at close, nothing half written stays") {
  for (const Fault fault : {Fault::fail, Fault::fail_from_then_on}) {
    for (std::uint64_t at = 1;; ++at) {
      CAPTURE(at);
      const TempDir folder;
      const std::string path = folder / "run";
      std::filesystem::create_directories(path + "/index");
      try {
        train(path, fault, at, SyncPolicy::none);
        CHECK(check_sound(path) == steps);
        break;  // there were fewer than `at`
      } catch (const WriteError& error) {
        CHECK(error.problem.text.find("no space") != std::string::npos);
        CHECK_FALSE(error.problem.file.empty());
      }
      CHECK(files_named(path, ".tmp") == 0);
      CHECK_FALSE(std::filesystem::exists(path + "/training_job_end.ts"));
      (void)check_sound(path);
    }
  }
}

TEST_CASE("a file larger than may be") {
  const TempDir folder;
  const std::string path = folder / "run";
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit{50'000, 50'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
    try {
      train(path, Fault::die, 0, SyncPolicy::none);
    } catch (const WriteError& error) {
      const bool named = error.problem.file.starts_with(path + "/events/000000000000/") &&
                         error.problem.text.find("ulimit -f") != std::string::npos;
      ::_exit(named ? 7 : 8);
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(files_named(path, ".tmp") == 0);
}

/// In a process of its own, on a disk of 512 KiB, where some steps of 80 KiB fit. What it exits with says what was
/// wrong.
int train_on_small_disk(const std::string& place) {
  constexpr int no_such_disk = 77;
  // Who may not mount may do so in a user namespace, where there are such.
  if ((::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", place.c_str(), "tmpfs", 0, "size=512k") != 0) {
    return no_such_disk;
  }
  const std::string path = place + "/run";
  HookConfig config{.out_dir = path, .save_config = SaveConfigMode{.save_interval = 1}};
  config.end_marker = true;
  Hook hook(config);
  const std::vector<float> values(elements, 1);
  const Shape shape = {static_cast<std::int64_t>(elements)};
  int step = 0;
  std::string first;
  try {
    for (; step < 100; ++step) {
      hook.save_tensor("weights/w", {Dtype::float32, shape, std::as_bytes(std::span(values))});
      hook.flush();
    }
    return 1;
  } catch (const WriteError& error) {
    first = to_string(error.problem);
    if (error.problem.text.find("no space") == std::string::npos || !error.problem.file.starts_with(path)) {
      return 2;
    }
  }
  try {
    hook.save_scalar("loss", 1);
    return 3;
  } catch (const WriteError& error) {
    if (to_string(error.problem) != first) {
      return 4;
    }
  }
  try {
    hook.close();
    return 5;  // it must not look as if all were well
  } catch (const WriteError&) {
  }
  if (files_named(path, ".tmp") != 0 || std::filesystem::exists(path + "/training_job_end.ts")) {
    return 6;
  }
  const Trial trial = Trial::open(path);
  const CheckReport report = check_trial(path, {}, [](const Problem&) {});
  if (report.damaged || step < 4 || trial.steps().size() != static_cast<std::size_t>(step)) {
    return 7;
  }
  for (const GlobalStep saved : trial.steps()) {
    const TensorValue value = trial.tensor("weights/w").value(saved);
    if (value.bytes().size() != elements * sizeof(float) ||
        std::memcmp(value.bytes().data(), values.data(), value.bytes().size()) != 0) {
      return 8;
    }
  }
  return 0;
}

TEST_CASE("a full disk: said at the next call and at close, all before it is whole") {
  const TempDir folder;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int result = 99;
    try {
      result = train_on_small_disk(folder.path());
    } catch (...) {
    }
    ::_exit(result);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    MESSAGE("a small disk takes the right to mount: not tested");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
}

/// Returns a hook whose first write fails.
Hook failing_hook(const std::string& path) {
  const HookConfig config{.out_dir = path, .save_config = SaveConfigMode{.save_interval = 1}};
  auto local = detail::hook::open_local_output(path);
  return Hook(std::make_unique<Hook::Impl>(config, std::make_unique<FaultyOutput>(std::move(*local), Fault::fail, 1),
                                           nullptr, detail::system_clock()));
}

TEST_CASE("a failure that no call has said is logged when the hook is destroyed") {
  const TempDir folder;
  const test::CaughtLog log;
  {
    Hook hook = failing_hook(folder / "closed");
    hook.save_scalar("a", 1);
    CHECK_THROWS_AS(hook.close(), WriteError);
  }
  try {
    Hook hook = failing_hook(folder / "left");
    hook.save_scalar("a", 1);
    throw std::runtime_error("the job's own error");
  } catch (const std::runtime_error&) {
  }
  CHECK(log.lines.empty());
  {
    Hook hook = failing_hook(folder / "forgotten");
    hook.save_scalar("a", 1);
  }
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines.front().starts_with("error: "));
  CHECK(log.lines.front().ends_with("cannot be written: no space is left there; free some"));
}

TEST_CASE("after a failure every call says so, and close again") {
  const TempDir folder;
  Hook hook = failing_hook(folder / "run");
  hook.save_scalar("a", 1);
  CHECK_THROWS_AS(hook.flush(), WriteError);
  CHECK_THROWS_AS(hook.save_scalar("a", 1), WriteError);
  CHECK_THROWS_AS(hook.next_step(), WriteError);
  CHECK_THROWS_AS(hook.set_mode(Mode::train), WriteError);
  CHECK_THROWS_AS(hook.close(), WriteError);
  CHECK_THROWS_AS(hook.close(), WriteError);
}

TEST_CASE("a forked child neither writes for its parent's hook nor waits for it") {
  const TempDir folder;
  const std::string path = folder / "run";
  HookConfig config{.out_dir = path, .save_config = SaveConfigMode{.save_interval = 1}};
  config.end_marker = true;
  std::optional<Hook> hook(config);
  hook->save_scalar("a", 1);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);  // a child that waits is killed
    const std::array<std::byte, 1> byte{};
    const std::array<std::function<void()>, 9> calls = {
        [&] { hook->save_scalar("b", 1); },
        [&] { static_cast<void>(hook->save_tensor("b", TensorView(Dtype::uint8, {}, byte))); },
        [&] { hook->save_shape("b", {1}); },
        [&] { hook->add_collection({.name = "c", .include_regex = {"b"}}); },
        [&] { hook->set_mode(Mode::train); },
        [&] { hook->next_step(); },
        [&] { hook->set_step(GlobalStep(5), Mode::global, ModeStep(5)); },
        [&] { hook->flush(); },
        [&] { hook->close(); }};
    const auto allowed = std::ranges::count_if(calls, [](const auto& call) {
      try {
        call();
        return true;
      } catch (const InvalidArgument&) {
        return false;
      }
    });
    hook.reset();
    ::_exit(static_cast<int>(allowed));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(!std::filesystem::exists(path + "/training_job_end.ts"));
  hook->close();
  const Trial trial = Trial::open(path);
  CHECK(trial.ended());
  CHECK(trial.tensor("scalar/a").steps() == std::vector{GlobalStep(0)});
}

}  // namespace
}  // namespace smd
