// SPDX-License-Identifier: Apache-2.0
#include "trial_support.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

namespace smd::test {
namespace fs = std::filesystem;

TEST_CASE("all trials below a place, in byte order, none within another") {
  const TempDir dir;
  for (const char* const name : {"b", "a/deep/er/x", "a/job/debug-output", "a-1", "b/inner"}) {
    TrialBuilder(dir / name).collections();
  }
  dir.make_dir("empty");
  dir.write("a/file", "");
  dir.make_dir("no/collections");  // a folder of that name alone makes no trial
  CHECK(find_trials(dir.path()) == Texts{dir / "a-1", dir / "a/deep/er/x", dir / "a/job/debug-output", dir / "b"});
  CHECK(find_trials(dir / "b") == Texts{dir / "b"});
  CHECK(find_trials(dir / "empty").empty());
}

TEST_CASE("links are not followed, but for the place itself") {
  const TempDir dir;
  TrialBuilder(dir / "outside/t").collections();
  dir.make_dir("place");
  fs::create_directory_symlink(dir / "outside", dir / "place/link");
  fs::create_directory_symlink(dir / "place", dir / "place/loop");
  CHECK(find_trials(dir / "place").empty());
  CHECK(find_trials(dir / "place/link") == Texts{dir / "place/link/t"});
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
