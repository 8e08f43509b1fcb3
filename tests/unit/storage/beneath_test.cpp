// SPDX-License-Identifier: Apache-2.0
#include "storage/beneath.hpp"

#include "local_support.hpp"

#include <cstdio>

using namespace smd;
using namespace smd::test;

TEST_CASE("storage: names that cannot be asked for") {
  const TempDir dir;
  dir.write("outside", "secret");
  dir.write("trial/inside", "open");
  using namespace std::string_literals;
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir / "trial", {way, true});
    for (const std::string& name : {"../outside"s, "a/../inside"s, "a/.."s, ".."s, "./../outside"s, dir / "outside",
                                    dir / "trial/inside", "/"s, "inside\0"s, "in\0side"s}) {
      CAPTURE(name);
      const Read read(storage->open(name));
      CHECK_FALSE(read.opened);
      CHECK(read.problem.kind == ProblemKind::damaged);
      CHECK(read.problem.file == name);
      CHECK_FALSE(storage->exists(name));
      const auto list = storage->list(name);
      REQUIRE_FALSE(list);
      CHECK(list.problem().kind == ProblemKind::damaged);
      const auto folder = storage->open_folder(name);
      REQUIRE_FALSE(folder);
      CHECK(folder.problem().kind == ProblemKind::damaged);
    }
    const Read empty(storage->open(""));
    CHECK(empty.problem.kind == ProblemKind::damaged);
    CHECK(empty.problem.text == "the name is empty");
    // Dots that are no parent.
    CHECK(Read(storage->open("./inside")).text == "open");
    CHECK(Read(storage->open("..inside")).problem.kind == ProblemKind::not_found);
  }
}

TEST_CASE("storage: symbolic links") {
  const TempDir dir;
  dir.write("outside", "secret");
  dir.write("beside/a", "secret");
  dir.write("trial/events/a", "data");
  dir.make_dir("trial/events/sub");
  const std::string trial = dir / "trial";
  link_to("events/a", trial + "/in");
  link_to("../events/a", trial + "/events/up_and_in");
  link_to("events/sub/../a", trial + "/by_parent");
  link_to("./events//sub/.././a", trial + "/by_dots");
  link_to("in", trial + "/in_twice");
  link_to("events", trial + "/folder_in");
  link_to("events/sub/..", trial + "/folder_by_parent");
  link_to("../outside", trial + "/out");
  link_to("../beside", trial + "/folder_out");
  link_to("..", trial + "/parent");
  link_to("events/../../outside", trial + "/out_deep");
  link_to("../trial/events/a", trial + "/out_and_in");
  link_to(trial + "/events/a", trial + "/absolute_in");
  link_to(dir / "outside", trial + "/absolute_out");
  link_to("/", trial + "/root");
  link_to("out", trial + "/to_out");
  link_to("loop", trial + "/loop");
  link_to("loop_b", trial + "/loop_a");
  link_to("loop_a", trial + "/loop_b");
  link_to("loop_folder/x", trial + "/loop_folder");
  link_to("nothing", trial + "/dangling");
  link_to("events/a/", trial + "/slash");
  std::string before = "events/a";
  for (int i = 1; i <= 41; ++i) {  // One more than the kernel follows.
    const std::string name = "chain_" + std::to_string(i);
    link_to(before, trial + '/' + name);
    before = name;
  }

  for (const Resolve way : ways()) {
    CAPTURE(static_cast<int>(way));
    const auto storage = open_storage(trial, {way, true});
    for (const char* name : {"events/a", "events//a", "./events/./a", "in", "events/up_and_in", "by_parent", "by_dots",
                             "in_twice", "folder_in/a", "folder_in/up_and_in", "folder_by_parent/a", "chain_40"}) {
      CAPTURE(name);
      const Read read(storage->open(name));
      CHECK(read.text == "data");
      CHECK(storage->exists(name));
    }
    for (const char* name : {"out", "folder_out/a", "parent/outside", "parent/trial/events/a", "out_deep", "out_and_in",
                             "absolute_in", "absolute_out", "root/etc/passwd", "to_out"}) {
      CAPTURE(name);
      const Read read(storage->open(name));
      CHECK_FALSE(read.opened);
      CHECK(read.problem.kind == ProblemKind::damaged);
      CHECK(read.problem.text.starts_with("leads out of the trial's directory"));
      CHECK(read.problem.file == name);
      CHECK_FALSE(storage->exists(name));
    }
    for (const char* name : {"loop", "loop_a", "loop_folder", "loop_folder/a", "chain_41"}) {
      CAPTURE(name);
      const Read read(storage->open(name));
      CHECK(read.problem.kind == ProblemKind::damaged);
      CHECK(read.problem.text.find("links") != std::string::npos);
    }
    for (const char* name : {"events/a/", "events/a/b", "in/b", "slash"}) {
      CAPTURE(name);
      const Read read(storage->open(name));
      CHECK(read.problem.kind == ProblemKind::damaged);
      CHECK(read.problem.text == "a part of the path is not a directory");
    }
    for (const char* name : {"dangling", "nothing", "nothing/a", "events/b"}) {
      CAPTURE(name);
      const Read read(storage->open(name));
      CHECK(read.problem.kind == ProblemKind::not_found);
      const bool link = name == std::string_view("dangling");
      CHECK(read.problem.dangling == link);
      CHECK(read.problem.text ==
            (link ? "is a symbolic link that leads nowhere: the file is absent" : "no such file or directory"));
      const auto list = storage->list(name);
      REQUIRE_FALSE(list);
      CHECK(list.problem().text == read.problem.text);
      CHECK_FALSE(storage->exists(name));
    }
    smd::detail::Buffer buffer;
    const auto root = storage->open_folder("");
    REQUIRE(root);
    const auto dangling = (*root)->read_all("dangling", buffer, 1);
    REQUIRE_FALSE(dangling);
    CHECK(dangling.problem().dangling);
    CHECK(dangling.problem().text == "is a symbolic link that leads nowhere: the file is absent");
    for (const char* name : {"folder_out", "parent", "root", "loop"}) {
      CAPTURE(name);
      const auto list = storage->list(name);
      REQUIRE_FALSE(list);
      CHECK(list.problem().kind == ProblemKind::damaged);
      const auto folder = storage->open_folder(name);
      REQUIRE_FALSE(folder);
      CHECK(folder.problem().kind == ProblemKind::damaged);
    }
    const std::string long_name(300, 'n');
    CHECK(Read(storage->open(long_name)).problem.kind == ProblemKind::damaged);
    for (const char* name : {"folder_in", "folder_in/", "folder_by_parent"}) {
      CAPTURE(name);
      const auto list = storage->list(name);
      REQUIRE(list);
      CHECK(list->size() == 3);  // a, sub, up_and_in
    }
  }
}

TEST_CASE("storage: the root") {
  const TempDir dir;
  dir.write("trial/a", "data");
  link_to("trial", dir / "link");
  for (const Resolve way : ways()) {
    CHECK(Read(open_storage(dir / "link", {way, true})->open("a")).text == "data");
    const auto storage = open_storage(dir / "trial", {way, true});
    CHECK(storage->root() == dir / "trial");
    CHECK(storage->exists(""));
    // Held by descriptor, so a new name does not disturb it.
    REQUIRE(std::rename((dir / "trial").c_str(), (dir / "renamed").c_str()) == 0);
    CHECK(Read(storage->open("a")).text == "data");
    REQUIRE(std::rename((dir / "renamed").c_str(), (dir / "trial").c_str()) == 0);
  }
  for (const std::string& path : {dir / "nothing", dir / "trial/a", std::string(), dir / "trial" + '\0'}) {
    CAPTURE(path);
    const auto storage = detail::storage::open_local(path);
    REQUIRE_FALSE(storage);
    CHECK(storage.problem().kind == ProblemKind::not_found);
  }
}
