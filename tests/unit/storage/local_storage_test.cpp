// SPDX-License-Identifier: Apache-2.0
#include "local_support.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <map>

using namespace smd;
using namespace smd::test;
using detail::storage::EntryKind;

namespace {

std::map<std::string, EntryKind> listed(Storage& storage, std::string_view folder) {
  const auto entries = storage.list(folder);
  REQUIRE(entries);
  std::map<std::string, EntryKind> result;
  for (const auto& entry : *entries) {
    CHECK(result.emplace(entry.name, entry.kind).second);
  }
  return result;
}

}  // namespace

TEST_CASE("storage: what a folder holds") {
  const TempDir dir;
  dir.write("outside", "secret");
  dir.write("trial/index/000000000/a.json", "{}");
  const std::string trial = dir / "trial";
  dir.write("trial/index/\x01\n\xff.json", "");  // A name is bytes, whatever they are.
  link_to("000000000/a.json", trial + "/index/link.json");
  link_to("000000000", trial + "/index/folder_link");
  link_to("../../outside", trial + "/index/out.json");
  link_to("nothing", trial + "/index/dangling.json");
  link_to("fifo", trial + "/index/fifo_link");
  REQUIRE(::mkfifo((trial + "/index/fifo").c_str(), 0600) == 0);
  link_to("index", trial + "/second_index");
  for (const Resolve way : ways()) {
    const auto storage = open_storage(trial, {way, true});
    CHECK(listed(*storage, "") ==
          std::map<std::string, EntryKind>{{"index", EntryKind::folder}, {"second_index", EntryKind::other}});
    const std::map<std::string, EntryKind> expected{
        {"000000000", EntryKind::folder},   {"\x01\n\xff.json", EntryKind::file}, {"link.json", EntryKind::file},
        {"folder_link", EntryKind::other},  {"out.json", EntryKind::file},  // Reading it says that it leads out.
        {"dangling.json", EntryKind::file}, {"fifo", EntryKind::other},           {"fifo_link", EntryKind::other}};
    CHECK(listed(*storage, "index") == expected);
    CHECK(listed(*storage, "index/") == expected);
    CHECK(listed(*storage, "second_index") == expected);
    CHECK(listed(*storage, "index/000000000").size() == 1);
    CHECK(storage->list("nothing").problem().kind == ProblemKind::not_found);
    CHECK(storage->list("nothing").problem().file == "nothing");
    CHECK(storage->list("index/000000000/a.json").problem().kind == ProblemKind::damaged);
  }
}

TEST_CASE("storage: a folder of more names than one system call gives") {
  const TempDir dir;
  std::map<std::string, EntryKind> expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = std::to_string(i) + std::string(40, 'n');
    dir.write("index/" + name, "");
    expected.emplace(name, EntryKind::file);
  }
  CHECK(listed(*open_storage(dir.path()), "index") == expected);
}

TEST_CASE("storage: whether something exists") {
  const TempDir dir;
  dir.make_dir("training_job_end.ts");
  dir.write("claim.smd", "");
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir.path(), {way, true});
    CHECK(storage->exists("training_job_end.ts"));
    CHECK(storage->exists("claim.smd"));
    CHECK_FALSE(storage->exists("claim"));
    CHECK_FALSE(storage->exists("claim.smd/x"));
  }
}

TEST_CASE("storage: when the newest file below a folder was written") {
  const TempDir dir;
  const auto write = [&](const std::string& name, std::int64_t seconds) {
    dir.write(name, "x");
    const timespec times[] = {{seconds, 0}, {seconds, 0}};
    REQUIRE(::utimensat(AT_FDCWD, (dir / name).c_str(), times, 0) == 0);
  };
  write("outside", 9000);
  write("trial/other", 8000);
  write("trial/index/000000000/a.json", 1000);
  write("trial/index/000000000/deep/b.json", 3000);
  write("trial/index/000000001/c.json", 2000);
  dir.make_dir("trial/empty/000000000");
  link_to("../../outside", dir / "trial/index/out");
  link_to("..", dir / "trial/index/loop");
  const auto at = [](std::int64_t seconds) {
    return std::optional(std::chrono::system_clock::time_point(std::chrono::seconds(seconds)));
  };
  for (const Resolve way : ways()) {
    const auto storage = open_storage(dir / "trial", {way, true});
    CHECK(storage->totals_below("index")->newest == at(3000));
    CHECK(storage->totals_below("index/000000001")->newest == at(2000));
    CHECK(storage->totals_below("")->newest == at(8000));
    CHECK(storage->totals_below("empty")->newest == std::nullopt);
    CHECK(storage->totals_below("nothing")->newest == std::nullopt);
    CHECK(storage->totals_below("../outside").problem().kind == ProblemKind::damaged);
    CHECK(storage->totals_below("other").problem().kind == ProblemKind::damaged);  // no folder
  }
  // Where links may lead anywhere, those to files are followed; a file outside counts once, whatever links lead there.
  link_to("../outside", dir / "trial/same");
  const auto storage = open_storage(dir / "trial", {Resolve::anywhere, true});
  const std::vector<std::string> other_trials = {"index/000000000"};
  CHECK(storage->totals_below("")->newest == at(9000));
  CHECK(storage->totals_below("")->bytes == 5);
  CHECK(storage->totals_below("", other_trials)->bytes == 3);
  // A file with several names counts once.
  REQUIRE(::link((dir / "trial/other").c_str(), (dir / "trial/index/again").c_str()) == 0);
  CHECK(storage->totals_below("")->bytes == 5);
}
