// SPDX-License-Identifier: Apache-2.0
// Refused access, and too few descriptors.
#include "local_support.hpp"
#include "text/limits.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <functional>
#include <optional>

using namespace smd;
using namespace smd::test;

namespace {

/// Runs a check in a child process without the rights of root. Nullopt if they cannot be dropped.
std::optional<bool> unprivileged(const std::function<bool()>& check) {
  constexpr uid_t nobody = 65534;
  constexpr int cannot = 2;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) {
      ::_exit(cannot);
    }
    ::_exit(check() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) == cannot ? std::nullopt : std::optional(WEXITSTATUS(status) == 0);
}

/// While it lives, only this many more descriptors can be had.
class FewDescriptors {
 public:
  explicit FewDescriptors(unsigned more) {
    const int next = ::dup(STDERR_FILENO);  // The lowest free number; those below are taken.
    REQUIRE(next >= 0);
    ::close(next);
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(next) + more;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

bool too_many_open_files(const Problem& problem) {
  return problem.kind == ProblemKind::io && problem.text.starts_with("too many open files");
}

}  // namespace

TEST_CASE("storage: no permission") {
  const TempDir dir;
  REQUIRE(::chmod(dir.path().c_str(), 0755) == 0);
  dir.write("file", "secret");
  dir.write("folder/a", "secret");
  dir.write("readable", "data");
  REQUIRE(::chmod((dir / "file").c_str(), 0) == 0);
  REQUIRE(::chmod((dir / "folder").c_str(), 0) == 0);
  REQUIRE(::chmod((dir / "readable").c_str(), 0644) == 0);
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir.path(), {way, true});
    const auto folder = storage->open_folder("");
    REQUIRE(folder);
    const auto denied = [](const auto& outcome, std::string_view file) {
      return !outcome && outcome.problem().kind == ProblemKind::access_denied && outcome.problem().file == file;
    };
    const auto result = unprivileged([&] {
      detail::Buffer buffer;
      return denied(storage->open("file"), "file") && denied(storage->open("folder/a"), "folder/a") &&
             denied(storage->list("folder"), "folder") && denied((*folder)->read_all("file", buffer, 100), "file") &&
             Read(storage->open("readable")).text == "data";
    });
    if (!result) {
      MESSAGE("cannot become an unprivileged user here: not tested");
      return;
    }
    CHECK(*result);
  }
}

TEST_CASE("storage: no descriptor left") {
  const TempDir dir;
  dir.write("index/a", "data");
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir.path(), {way, true});
    const auto folder = storage->open_folder("index");
    REQUIRE(folder);
    detail::Buffer buffer;
    const auto scarce = [](const auto& outcome) { return !outcome && too_many_open_files(outcome.problem()); };
    {
      const FewDescriptors none(0);
      CHECK(scarce(storage->open("index/a")));
      CHECK(scarce(storage->open_folder("index")));
      CHECK(scarce(storage->list("index")));
      CHECK(storage->exists("index"));
      CHECK_FALSE(storage->exists("training_job_end.ts"));
      CHECK(scarce((*folder)->read_all("a", buffer, 100)));
      CHECK(scarce(detail::storage::open_local(dir.path())));
    }
    const auto all = (*folder)->read_all("a", buffer, 100);
    REQUIRE(all);
    CHECK(text_of(*all) == "data");
  }
}

TEST_CASE("storage: a listing is whole or none") {
  const TempDir dir;
  dir.write("index/a", "data");
  link_to("a", dir / "index/link");
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir.path(), {way, true});
    {
      // Enough to open the folder (a walk stands on the way besides), none to look where the link leads.
      const FewDescriptors one(1);
      const auto list = storage->list("index");
      REQUIRE_FALSE(list);
      CHECK(too_many_open_files(list.problem()));
      CHECK(list.problem().file == "index/link");
    }
    const auto list = storage->list("index");
    REQUIRE(list);
    CHECK(list->size() == 2);
  }
}

TEST_CASE("storage: a reader needs a folder and a file, and gives back what it took") {
  const TempDir dir;
  dir.write("index/000000000/a", "data");
  dir.write("index/000000000/b", "more");
  const std::vector<std::string_view> names{"a", "b"};
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir.path(), {way, true});
    const FewDescriptors few(way == Resolve::kernel ? 2 : 3);  // A walk holds where it stands besides.
    for (int i = 0; i < 100; ++i) {
      const auto folder = storage->open_folder("index/000000000");
      REQUIRE(folder);
      (*folder)->announce(names);
      detail::Buffer buffer;
      const auto all = (*folder)->read_all("b", buffer, 100);
      REQUIRE(all);
      REQUIRE(text_of(*all) == "more");
      REQUIRE(storage->list("index"));
      REQUIRE(storage->exists("index/000000000"));
      REQUIRE_FALSE(storage->exists("index/c"));
      REQUIRE_FALSE(storage->open("index/000000000"));
    }
  }
  const auto storage = open_storage(dir.path());
  CHECK(storage->parallelism() >= 1);
  // Each with a folder and a file, and the root.
  CHECK(2 * storage->parallelism() + 1 <= static_cast<unsigned>(limits::open_files));
}
