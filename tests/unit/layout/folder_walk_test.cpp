// SPDX-License-Identifier: Apache-2.0
#include "layout/folder_walk.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace smd::detail;
using layout::FolderWalk;
using smd::test::TempDir;
using Texts = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

struct Walked {
  Texts paths;
  Texts notes;
  bool cut = false;
};

Walked walk_through(const std::string& path, layout::WalkLimits limits = {}) {
  const auto storage = storage::open_local_with_links(path);
  REQUIRE(storage);
  FolderWalk walk(**storage, "place", limits);
  Walked walked;
  while (walk.next()) {
    walked.paths.push_back(walk.path());
    walk.enter_all();
  }
  for (const smd::Problem& note : walk.notes().kept()) {
    walked.notes.push_back(note.file + ": " + note.text);
  }
  walked.cut = walk.cut();
  return walked;
}

}  // namespace

TEST_CASE("a walk goes level by level and tells what lies in a folder and below") {
  const TempDir dir;
  dir.write("b/deep/file", "");
  dir.write("a/file", "");
  CHECK(walk_through(dir.path()).paths == Texts{"", "a", "b", "b/deep"});
  const auto storage = storage::open_local_with_links(dir.path());
  REQUIRE(storage);
  FolderWalk walk(**storage, "place");
  REQUIRE(walk.next());
  CHECK(walk.name() == "place");
  CHECK(walk.has_folder("a"));
  CHECK_FALSE(walk.has("file"));
  CHECK(walk.below("b/deep").size() == 1);
  CHECK(walk.below("nothing").empty());
  const std::vector<std::string_view> except{"a"};
  walk.enter_all(except);
  REQUIRE(walk.next());
  CHECK(walk.path() == "b");
  CHECK(walk.name() == "b");
  CHECK(walk.path_of("deep") == "b/deep");
}

TEST_CASE("links are followed, each folder once and under its own name") {
  const TempDir dir;
  dir.write("place/own/file", "");
  dir.write("elsewhere/sub/file", "");
  fs::create_directory_symlink("own", dir / "place/a_link");
  fs::create_directory_symlink(dir / "elsewhere", dir / "place/b_link");
  fs::create_directory_symlink(dir / "elsewhere", dir / "place/c_link");
  fs::create_directory_symlink(".", dir / "place/own/loop");
  fs::create_symlink("nowhere", dir / "place/dangling");
  const Walked walked = walk_through(dir / "place");
  CHECK(walked.paths == Texts{"", "own", "b_link", "b_link/sub"});
  CHECK(walked.notes.empty());
}

TEST_CASE("a folder that is an unfinished copy is not visited") {
  const TempDir dir;
  dir.write("a/.~tmp~/file", "");
  dir.write(".~tmp~/deep/file", "");
  dir.write("checkpoint-10.tmp/file", "");
  dir.write("tmp-checkpoint-20/file", "");
  const Walked walked = walk_through(dir.path());
  CHECK(walked.paths == Texts{"", "a"});
  CHECK(walked.notes == Texts{".~tmp~: its name is that of an unfinished copy",
                              "checkpoint-10.tmp: its name is that of an unfinished copy",
                              "tmp-checkpoint-20: its name is that of an unfinished copy",
                              "a/.~tmp~: its name is that of an unfinished copy"});
  CHECK(walk_through(dir / ".~tmp~").paths == Texts{"", "deep"});
}

TEST_CASE("no link leads above the place or into the system") {
  const TempDir dir;
  dir.write("outer/place/file", "");
  fs::create_directory_symlink(dir / "outer", dir / "outer/place/up");
  fs::create_directory_symlink("/", dir / "outer/place/top");
  fs::create_directory_symlink("/proc/self", dir / "outer/place/process");
  const Walked walked = walk_through(dir / "outer/place");
  CHECK(walked.paths == Texts{""});
  CHECK(walked.notes == Texts{"process: a folder of the system's /proc, /sys or /dev, not searched",
                              "top: symbolic link to a folder that it lies in, not followed",
                              "up: symbolic link to a folder that it lies in, not followed"});
}

TEST_CASE("a walk ends at its limits, and says so") {
  const TempDir dir;
  for (const char* name : {"a", "b", "c"}) {
    dir.write(std::string(name) + "/file", "");
  }
  Walked walked = walk_through(dir.path(), {.folders = 3, .names = 100});
  CHECK(walked.paths == Texts{"", "a", "b"});
  CHECK(walked.cut);
  CHECK(walked.notes.size() == 1);
  walked = walk_through(dir.path(), {.folders = 100, .names = 4});
  CHECK(walked.paths == Texts{"", "a"});
  CHECK(walked.cut);
  CHECK_FALSE(walk_through(dir.path(), {.folders = 4, .names = 6}).cut);
}
