// SPDX-License-Identifier: Apache-2.0
// A program that a signal ends at once learns of every temporary file in time.
#include <smd/hook.hpp>
#include <smd/temporary_file.hpp>

#include "hook/src/output.hpp"
#include "support/caught_log.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

namespace {
std::atomic<bool> cannot_remove = false;
}  // namespace

/// In place of the C library's: a file system that lets files be made and not removed.
extern "C" int unlinkat(int folder, const char* name, int flags) noexcept {
  if (cannot_remove) {
    errno = EROFS;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_unlinkat, folder, name, flags));
}

using namespace smd;

namespace {

std::mutex mutex;
std::set<std::string> there;
std::set<std::string> all;
int too_late = 0;   // a file that was there before its name was announced
int too_early = 0;  // one that was still there when it was said to be gone

void making(const char* path) noexcept {
  const std::lock_guard lock(mutex);
  too_late += std::filesystem::exists(path) ? 1 : 0;
  there.insert(path);
  all.insert(path);
}

void gone(const char* path) noexcept {
  const std::lock_guard lock(mutex);
  too_early += std::filesystem::exists(path) ? 1 : 0;
  there.erase(path);
}

}  // namespace

TEST_CASE("hook: its temporary files are announced before they are made, and when they are gone") {
  const test::TempDir dir;
  observe_temporary_files({.making = &making, .gone = &gone});
  {
    Hook hook({.out_dir = dir / "run", .save_config = SaveConfigMode{.save_interval = 1}, .end_marker = true});
    hook.save_scalar("loss", 1);
    hook.next_step();
    hook.close();
  }
  {
    Hook hook({.out_dir = dir / "run", .save_config = SaveConfigMode{.save_interval = 1}, .end_marker = false});
    CHECK_THROWS_AS(hook.save_scalar("loss", 1), StepAlreadySaved);
  }
  observe_temporary_files({});
  CHECK(all.size() >= 4);  // events, index, collections, end
  CHECK(there.empty());
  CHECK(too_late == 0);
  CHECK(too_early == 0);
  for (const std::string& path : all) {
    CHECK(path.starts_with(dir / "run"));
    CHECK(path.ends_with(".tmp"));
  }
}

TEST_CASE("hook: a temporary file that cannot be removed is warned of") {
  const test::TempDir dir;
  const test::CaughtLog log;
  auto output = detail::hook::open_local_output(dir / "run");
  REQUIRE(output);
  auto file = (*output)->create("events/x");
  REQUIRE(file);
  cannot_remove = true;
  file->reset();
  cannot_remove = false;
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].starts_with("warning: '" + (dir / "run/events/x.")));
  CHECK(log.lines[0].ends_with(".tmp' is a temporary file that could not be removed: Read-only file system"));
}
