// SPDX-License-Identifier: Apache-2.0
#include "local_support.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

using namespace smd;
using namespace smd::test;
using detail::storage::Watch;
using Clock = std::chrono::steady_clock;

namespace {

/// Long enough that only an event ends the wait.
constexpr std::chrono::hours never(1);

Clock::time_point soon_enough() { return Clock::now() + std::chrono::seconds(60); }

/// The kernel queues an event before the call that caused it returns, so what was done is there to be seen.
bool changed(Watch& watch) { return watch.wait_until(Clock::now()); }

void drain(Watch& watch) {
  while (changed(watch)) {
  }
}

/// As hooks do.
void save(const TempDir& dir, const std::string& name) {
  dir.write(name + ".tmp", "{}");
  REQUIRE(std::rename((dir / name + ".tmp").c_str(), (dir / name).c_str()) == 0);
}

/// A debugger trial's.
const detail::storage::WatchScope indexed{{"index", "collections"}, false};

std::unique_ptr<Watch> inotify_watch(Storage& storage, const detail::storage::WatchScope& scope = indexed) {
  auto watch = storage.watch(never, scope);
  if (watch->method() != "inotify") {
    MESSAGE("no inotify here, not tested: " << watch->method());
    return nullptr;
  }
  return watch;
}

}  // namespace

TEST_CASE("watch: files that grow, at any depth") {
  const TempDir dir;
  dir.make_dir("runs/train");
  const auto storage = open_storage(dir.path());
  const auto watch = inotify_watch(*storage, {{""}, true});
  if (!watch) {
    return;
  }
  std::FILE* const file = std::fopen((dir / "runs/train/log").c_str(), "w");
  REQUIRE(file != nullptr);
  drain(*watch);
  CHECK_FALSE(changed(*watch));
  REQUIRE(std::fputs("more", file) >= 0);
  REQUIRE(std::fflush(file) == 0);
  CHECK(changed(*watch));
  drain(*watch);
  dir.make_dir("runs/later");
  CHECK(changed(*watch));
  drain(*watch);
  dir.write("runs/later/log", "x");
  CHECK(changed(*watch));
  std::fclose(file);
}

TEST_CASE("watch: files that appear") {
  const TempDir dir;
  dir.make_dir("index/000000000/deeper");
  const auto storage = open_storage(dir.path());
  const auto watch = inotify_watch(*storage);
  if (!watch) {
    return;
  }
  CHECK_FALSE(changed(*watch));
  save(dir, "index/000000000/a.json");
  CHECK(watch->wait_until(soon_enough()));
  CHECK_FALSE(changed(*watch));

  SUBCASE("in every folder that matters") {
    for (const char* name : {"training_job_end.ts", "index/b.json", "index/000000000/deeper/c.json"}) {
      CAPTURE(name);
      save(dir, name);
      CHECK(changed(*watch));
      drain(*watch);
      dir.write(std::string(name) + "_written_in_place", "{}");
      CHECK(changed(*watch));
      drain(*watch);
    }
  }
  SUBCASE("but not what is still being written") {
    dir.write("index/000000000/b.json.tmp", "{");
    CHECK_FALSE(changed(*watch));
  }
  SUBCASE("while it waits") {
    std::thread writer([&] { save(dir, "index/000000000/late.json"); });
    CHECK(watch->wait_until(soon_enough()));
    writer.join();
  }
}

TEST_CASE("watch: folders that come and go") {
  const TempDir dir;
  const auto storage = open_storage(dir.path());
  const auto watch = inotify_watch(*storage);
  if (!watch) {
    return;
  }
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    dir.make_dir("index");
    CHECK(watch->wait_until(soon_enough()));
    drain(*watch);
    dir.make_dir("index/000000001");
    CHECK(watch->wait_until(soon_enough()));
    drain(*watch);
    save(dir, "index/000000001/a.json");
    CHECK(watch->wait_until(soon_enough()));
    drain(*watch);
    // Both made before anyone looks.
    save(dir, "index/000000002/deep/b.json");
    CHECK(watch->wait_until(soon_enough()));
    drain(*watch);
    save(dir, "index/000000002/deep/c.json");
    CHECK(watch->wait_until(soon_enough()));
    drain(*watch);
    // Moved in as a whole.
    save(dir, "elsewhere/000000003/d.json");
    drain(*watch);
    REQUIRE(std::rename((dir / "elsewhere/000000003").c_str(), (dir / "index/000000003").c_str()) == 0);
    CHECK(watch->wait_until(soon_enough()));
    drain(*watch);
    save(dir, "index/000000003/e.json");
    CHECK(watch->wait_until(soon_enough()));
    std::filesystem::remove_all(dir / "index");
    CHECK(watch->wait_until(soon_enough()));
    drain(*watch);
    CHECK(watch->method() == "inotify");
  }
}

TEST_CASE("watch: more events than the kernel keeps") {
  std::FILE* limit = std::fopen("/proc/sys/fs/inotify/max_queued_events", "r");
  int queued = 0;
  if (limit == nullptr || std::fscanf(limit, "%d", &queued) != 1 || queued > 100'000) {
    MESSAGE("the queue's length is not known or too long to fill: not tested");
    return;
  }
  std::fclose(limit);
  const TempDir dir;
  dir.make_dir("index/000000000");
  const auto storage = open_storage(dir.path());
  const auto watch = inotify_watch(*storage);
  if (!watch) {
    return;
  }
  // Two names in turn, because the kernel merges equal events that follow each other.
  std::string a = dir.write("index/000000000/a", "");
  std::string b = dir / "index/000000000/b";
  for (int i = 0; i <= queued; ++i) {
    REQUIRE(std::rename(a.c_str(), b.c_str()) == 0);
    std::swap(a, b);
  }
  dir.make_dir("index/000000001");  // Its event is one of those lost.
  CHECK(watch->wait_until(soon_enough()));
  drain(*watch);
  save(dir, "index/000000001/c.json");
  CHECK(watch->wait_until(soon_enough()));
}

TEST_CASE("watch: the root removed and made anew") {
  const TempDir dir;
  dir.write("trial/index/old.json", "{}");
  for (const bool inotify : {true, false}) {
    const auto storage = open_storage(dir / "trial", {{}, inotify});
    const auto watch = storage->watch(std::chrono::milliseconds(1), indexed);
    std::filesystem::remove_all(dir / "trial");
    dir.write("trial/index/new.json", "{}");
    const auto deadline = soon_enough();
    while (!storage->exists("index/new.json") && Clock::now() < deadline) {
      watch->wait_until(deadline);
    }
    CHECK(storage->exists("index/new.json"));
  }
}

TEST_CASE("watch: polling") {
  const TempDir dir;
  const auto storage = open_storage(dir.path(), {{}, false});
  const auto often = storage->watch(std::chrono::milliseconds(1), indexed);
  CHECK(often->method().starts_with("polling"));
  CHECK(often->wait_until(soon_enough()));
  CHECK(often->wait_until(soon_enough()));
  const auto seldom = storage->watch(never, indexed);
  save(dir, "index/a.json");
  CHECK_FALSE(changed(*seldom));
}

TEST_CASE("watch: quiet only while nothing happens, and where that can be told") {
  const TempDir dir;
  dir.make_dir("index/000000000");
  const auto storage = open_storage(dir.path());
  if (const auto watch = inotify_watch(*storage)) {
    CHECK(watch->quiet());
    for (const char* const name : {"index/000000000/a.json", "index/000000001/b.json", "index/000000001/c.json"}) {
      CAPTURE(name);
      save(dir, name);
      CHECK_FALSE(watch->quiet());
      drain(*watch);
      CHECK(watch->quiet());
    }
    std::filesystem::remove_all(dir / "index");
    CHECK_FALSE(watch->quiet());
  }
  const auto polling = open_storage(dir.path(), {{}, false})->watch(never, indexed);
  CHECK_FALSE(polling->quiet());
}

TEST_CASE("watch: with inotify too it looks at the interval") {
  const TempDir dir;
  const auto watch = open_storage(dir.path())->watch(std::chrono::milliseconds(1), indexed);
  CHECK(watch->wait_until(soon_enough()));
}

TEST_CASE("watch: no descriptor left for inotify") {
  const TempDir dir;
  const auto storage = open_storage(dir.path());
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 0;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto watch = storage->watch(never, indexed);
  const auto often = storage->watch(std::chrono::milliseconds(1), indexed);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(watch->method().starts_with("polling (no inotify"));
  CHECK(often->wait_until(soon_enough()));
  std::thread waker([&] { watch->wake(); });
  CHECK_FALSE(watch->wait_until(Clock::now() + never));
  waker.join();
}

TEST_CASE("watch: waking") {
  const TempDir dir;
  for (const bool inotify : {true, false}) {
    const auto storage = open_storage(dir.path(), {{}, inotify});
    const auto watch = storage->watch(never, indexed);
    watch->wake();
    CHECK_FALSE(watch->wait_until(Clock::now() + never));
    for (int i = 0; i < 100; ++i) {
      std::thread waker([&] { watch->wake(); });
      CHECK_FALSE(watch->wait_until(Clock::now() + never));
      waker.join();
    }
    // A wake-up ends one wait, not those after it.
    const auto often = storage->watch(std::chrono::milliseconds(1), indexed);
    often->wake();
    CHECK_FALSE(often->wait_until(Clock::now() + never));
    CHECK(often->wait_until(soon_enough()));
  }
}

namespace {

std::atomic<int> ticks = 0;
std::atomic<Watch*> to_wake = nullptr;

extern "C" void on_tick(int /*signal*/) {
  if (++ticks == 5) {
    to_wake.load()->wake();
  }
}

}  // namespace

TEST_CASE("watch: signals do not end a wait, waking from their handler does") {
  const TempDir dir;
  const auto watch = open_storage(dir.path())->watch(never, indexed);
  to_wake = watch.get();
  ticks = 0;
  struct sigaction tick {};
  struct sigaction before {};
  tick.sa_handler = on_tick;  // Without SA_RESTART.
  REQUIRE(::sigaction(SIGALRM, &tick, &before) == 0);
  const itimerval each_millisecond{{0, 1000}, {0, 1000}};
  const itimerval off{};
  REQUIRE(::setitimer(ITIMER_REAL, &each_millisecond, nullptr) == 0);
  CHECK_FALSE(watch->wait_until(Clock::now() + never));
  CHECK(ticks >= 5);
  REQUIRE(::setitimer(ITIMER_REAL, &off, nullptr) == 0);
  REQUIRE(::sigaction(SIGALRM, &before, nullptr) == 0);
}
