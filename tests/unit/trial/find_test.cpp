// SPDX-License-Identifier: Apache-2.0
#include "trial_support.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace smd::test {
namespace fs = std::filesystem;

TEST_CASE("all trials below a place, in byte order, also within another") {
  const TempDir dir;
  for (const char* const name : {"b", "a/deep/er/x", "a/job/debug-output", "a-1", "b/inner"}) {
    TrialBuilder(dir / name).collections();
  }
  dir.make_dir("empty");
  dir.write("a/file", "");
  dir.make_dir("no/collections");  // a folder of that name alone makes no trial
  CHECK(find_trials(dir.path()) ==
        Texts{dir / "a-1", dir / "a/deep/er/x", dir / "a/job/debug-output", dir / "b", dir / "b/inner"});
  CHECK(find_trials(dir / "b/inner/") == Texts{dir / "b/inner"});
  CHECK(find_trials(dir / "empty").empty());
}

TEST_CASE("links are followed, each trial is listed once") {
  const TempDir dir;
  TrialBuilder(dir / "outside/t").collections();
  dir.make_dir("place");
  fs::create_directory_symlink(dir / "outside", dir / "place/link");
  fs::create_directory_symlink(dir / "place", dir / "place/loop");
  CHECK(find_trials(dir / "place") == Texts{dir / "place/link/t"});
  CHECK(find_trials(dir / "place/link") == Texts{dir / "place/link/t"});
  fs::remove(dir / "place/link");
  TrialBuilder(dir / "place/run").collections();
  fs::create_directory_symlink("run", dir / "place/latest");  // found at its own place
  fs::create_directory_symlink(dir / "outside/t", dir / "place/other");
  fs::create_directory_symlink(dir / "outside/t", dir / "place/same");
  fs::create_directory_symlink("nothing", dir / "place/dangling");
  CHECK(find_trials(dir / "place") == Texts{dir / "place/other", dir / "place/run"});
}

TEST_CASE("a place that cannot be read is an error, a folder below it a problem") {
  const TempDir dir;
  CHECK_THROWS_AS(static_cast<void>(find_trials(dir / "none")), ReadError);
  CHECK_THROWS_AS(static_cast<void>(find_trials(dir.write("file", ""))), ReadError);
  CHECK_THROWS_AS(static_cast<void>(find_trials("")), ReadError);
  if (::geteuid() == 0) {
    return;  // nothing is closed to root
  }
  TrialBuilder(dir / "t").collections();
  dir.make_dir("closed");
  fs::permissions(dir / "closed", fs::perms::none);
  std::vector<Problem> problems;
  CHECK(find_trials(dir.path(), &problems) == Texts{dir / "t"});
  CHECK(kinds_and_files(problems) == Texts{"AccessDenied " + (dir / "closed")});
  CHECK(find_trials(dir.path()) == Texts{dir / "t"});
  CHECK_THROWS_AS(static_cast<void>(find_trials(dir / "closed")), ReadError);
}

TEST_CASE("loops end, and what was not entered is reported") {
  const TempDir dir;
  TrialBuilder(dir / "elsewhere/best").collections();
  TrialBuilder(dir / "place/runs/job").collections();
  fs::create_directory_symlink(dir / "elsewhere/best", dir / "place/best");
  fs::create_directory_symlink(dir / "place/runs/job", dir / "place/latest");  // found where it lies
  fs::create_directory_symlink(dir / "place/runs", dir / "place/same");        // searched where it lies
  fs::create_directory_symlink(dir / "elsewhere", dir / "place/data");
  fs::create_directory_symlink("..", dir / "place/runs/up");
  fs::create_symlink("circle", dir / "place/circle");
  fs::create_symlink("nowhere", dir / "place/dangling");
  std::vector<Problem> problems;
  CHECK(find_trials(dir / "place", &problems) == Texts{dir / "place/best", dir / "place/runs/job"});
  Texts told;
  for (const Problem& problem : problems) {
    CHECK(problem.kind == ProblemKind::remark);
    told.push_back(problem.file.substr(dir.path().size()) + ": " + problem.text);
  }
  CHECK(told == Texts{});  // links are followed, and each folder is visited once
}

TEST_CASE("folders whose paths are too long are reported") {
  const TempDir dir;
  TrialBuilder(dir / "t").collections();
  // Made from within: no path of that length can be named.
  const fs::path back = fs::current_path();
  fs::current_path(dir.path());
  for (int i = 0; i < 25; ++i) {  // 5,025 bytes
    REQUIRE(::mkdir(std::string(200, 'd').c_str(), 0700) == 0);
    REQUIRE(::chdir(std::string(200, 'd').c_str()) == 0);
  }
  fs::current_path(back);
  std::vector<Problem> problems;
  CHECK(find_trials(dir.path(), &problems) == Texts{dir / "t"});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].kind == ProblemKind::io);
  CHECK(problems[0].text == "lies too deep: its path is longer than the system allows; name a folder nearer");
}

TEST_CASE("odd names and deep folders do no harm") {
  const TempDir dir;
  std::string deep = dir.path();
  while (deep.size() < 3000) {
    deep += "/" + std::string(200, 'd');
  }
  TrialBuilder(deep).collections();
  TrialBuilder(dir / "new\nline \xff").collections();
  CHECK(find_trials(dir.path()) == Texts{deep, dir / "new\nline \xff"});
}

}  // namespace smd::test
