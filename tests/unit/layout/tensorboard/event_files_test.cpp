// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "layout/tensorboard/event_files.hpp"
#include "support/temp_dir.hpp"

#include <sys/stat.h>

#include <filesystem>

using namespace smd::detail;
using namespace smd::detail::layout;
using smd::test::TempDir;
using Paths = std::vector<std::string>;

namespace {

Paths event_files_in(const TempDir& dir, const std::string& below = {}) {
  const auto storage = storage::open_local_with_links(below.empty() ? dir.path() : dir / below);
  REQUIRE(storage);
  CheckedFiles checked;
  auto files = find_event_files(**storage, checked);
  REQUIRE(files);
  CHECK(files->notes.empty());
  return files->paths;
}

}  // namespace

TEST_CASE("the name tells an event file") {
  CHECK(is_event_file("events.out.tfevents.1700000000.host-a.4242.0"));
  CHECK(is_event_file("run/train/events.out.tfevents.1700000000.host-b.77.0.v2"));
  CHECK(is_event_file("my.tfevents.txt"));
  CHECK(is_event_file("x.tfevents"));
  CHECK(is_event_file("events/000000000001/note.tfevents"));
  CHECK_FALSE(is_event_file("events.out.tfevents.1700000001.profile-empty"));
  CHECK_FALSE(is_event_file("events/000000000001/000000000001_worker_0.tfevents"));
  CHECK(is_event_file("GLOBAL/000000000001_23286_vm.tfevents"));  // as the hook writes for TensorBoard
  CHECK_FALSE(is_event_file("000000000001_23286_vm.local.tfevents"));
  CHECK_FALSE(is_event_file("000000000001_23286.tfevents"));
  CHECK_FALSE(is_event_file("tfevents/checkpoint"));
  CHECK_FALSE(is_event_file("run/._events.out.tfevents.1700000000.host-a.4242.0"));        // of macOS
  CHECK_FALSE(is_event_file("run/.events.out.tfevents.1700000000.host-a.4242.0.aB3dEf"));  // of rsync
  CHECK_FALSE(is_event_file("GLOBAL/.000000000001_23286_vm.tfevents.aB3dEf"));
  CHECK_FALSE(is_event_file("events.out.tfevents.1700000000.host-a.4242.0~"));
  CHECK_FALSE(is_event_file("events.out.tfevents.1700000000.host-a.4242.0.part"));
  CHECK_FALSE(is_event_file(""));
}

TEST_CASE("the run of a file is its folder") {
  CHECK(run_of("events.out.tfevents.1").empty());
  CHECK(run_of("a/b/events.out.tfevents.1") == "a/b");
}

TEST_CASE("the name tells host and process") {
  CHECK(writer_of("events.out.tfevents.1700000000.host-a.4242.0") == "host-a.4242");
  CHECK(writer_of("run/events.out.tfevents.1700000026.host-a.4242.1.extra") == "host-a.4242");
  CHECK(writer_of("events.out.tfevents.1700000000.ip-10-0-0-1.ec2.internal.77.0.v2") == "ip-10-0-0-1.ec2.internal.77");
  CHECK(writer_of("events.out.tfevents.1700000000.10.0.0.1.77.0") == "10.0.0.1.77");
  // Without a process, a file is a writer of its own: a rank must not erase the others.
  CHECK(writer_of("events.out.tfevents.1700000000.host") == "events.out.tfevents.1700000000.host");
  CHECK(writer_of("my.tfevents.txt") == "my.tfevents.txt");
  CHECK(writer_of("x.tfevents") == "x.tfevents");
  CHECK(writer_of("GLOBAL/000000000001_23286_vm.tfevents") == "23286_vm");
}

TEST_CASE("event files are listed by run and name") {
  const TempDir dir;
  for (const char* file : {"b/tfevents.2", "b/tfevents.1", "tfevents.9", "a/deep/er/tfevents.3", "a/notes.txt",
                           "a.b/tfevents.4", "events/000000000001/000000000001_worker_0.tfevents"}) {
    dir.write(file, "");
  }
  CHECK(event_files_in(dir) ==
        Paths{"tfevents.9", "a.b/tfevents.4", "a/deep/er/tfevents.3", "b/tfevents.1", "b/tfevents.2"});
}

TEST_CASE("without event files of its own, a folder has those of its sides alone") {
  const TempDir dir;
  for (const char* file : {"train/tfevents.1", "train/sub/tfevents.2", "val/tfevents.3", "exp1/tfevents.4"}) {
    dir.write(file, "");
  }
  CHECK(event_files_in(dir) == Paths{"train/tfevents.1", "train/sub/tfevents.2", "val/tfevents.3"});
}

TEST_CASE("what is no event file by its first bytes is left out; what may be damaged, or begins, is not") {
  const TempDir dir;
  dir.write("tfevents.csv", "step,value\n0,1\n");
  dir.write("tfevents.lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:4\n");
  dir.write("tfevents.page", "<!DOCTYPE html><html>");
  dir.write("tfevents.zip", std::string("PK\3\4") + std::string(60, '\0'));
  dir.write("tfevents.empty", "");
  dir.write("tfevents.zeros", std::string(300, '\0'));
  dir.write("tfevents.gz", "\x1f\x8b\x08");
  dir.write("tfevents.noise", "\x91\xf3\x02\xff\xee\x11\xc0\x07\x99\x1e\x80\xbf\x10");
  const auto storage = storage::open_local_with_links(dir.path());
  REQUIRE(storage);
  CheckedFiles checked;
  auto files = find_event_files(**storage, checked);
  REQUIRE(files);
  CHECK(files->paths == Paths{"tfevents.empty", "tfevents.gz", "tfevents.noise", "tfevents.zeros"});
  Paths noted;
  for (const smd::Problem& note : files->notes.kept()) {
    noted.push_back(note.text.substr(0, note.text.find(':')));
  }
  CHECK(noted == Paths{"'tfevents.csv' is left out", "'tfevents.lfs' is left out", "'tfevents.page' is left out",
                       "'tfevents.zip' is left out"});
  // A file that has become one is read.
  std::filesystem::remove(dir / "tfevents.csv");
  dir.write("tfevents.csv", "");
  files = find_event_files(**storage, checked);
  REQUIRE(files);
  CHECK(files->paths.front() == "tfevents.csv");
}

TEST_CASE("copies that are being made, and what they replaced, are left out with a note") {
  const TempDir dir;
  for (const char* file : {"run/tfevents.1", "run/.tfevents.1.aB3dEf", "run/tfevents.1~", "run/tfevents.2.tmp",
                           "tfevents.0", "._tfevents.0", ".notes", "tfevents.3.partial"}) {
    dir.write(file, "");
  }
  const auto storage = storage::open_local_with_links(dir.path());
  REQUIRE(storage);
  CheckedFiles checked;
  const auto files = find_event_files(**storage, checked);
  REQUIRE(files);
  CHECK(files->paths == Paths{"tfevents.0", "run/tfevents.1"});
  Paths noted;
  for (const smd::Problem& note : files->notes.kept()) {
    CHECK(note.kind == smd::ProblemKind::remark);
    noted.push_back(note.text.substr(0, note.text.find(':')));
  }
  CHECK(noted == Paths{"'tfevents.3.partial' is left out", "'run/.tfevents.1.aB3dEf' is left out",
                       "'run/tfevents.1~' is left out", "'run/tfevents.2.tmp' is left out"});
}

TEST_CASE("debugger trials below have no runs") {
  const TempDir dir;
  dir.write("tfevents.0", "");
  dir.write("job/collections/000000000/worker_0_collections.json", "");
  dir.write("job/tensorboard/tfevents.1", "");
  dir.write("run/collections/tfevents.2", "");
  CHECK(event_files_in(dir) == Paths{"tfevents.0", "run/collections/tfevents.2"});
}

TEST_CASE("links are followed, each folder is taken once and by its own name") {
  const TempDir dir;
  dir.write("log/z/tfevents.1", "");
  dir.write("elsewhere/tfevents.2", "");
  dir.write("elsewhere/sub/tfevents.3", "");
  dir.write("file/tfevents.4", "");
  namespace fs = std::filesystem;
  fs::create_directory_symlink("z", dir / "log/a");
  fs::create_directory_symlink("../elsewhere", dir / "log/b");
  fs::create_directory_symlink(dir / "elsewhere", dir / "log/c");
  fs::create_directory_symlink("..", dir / "log/z/up");
  fs::create_symlink("../file/tfevents.4", dir / "log/tfevents.linked");
  fs::create_symlink("nowhere", dir / "log/dangling");
  CHECK(event_files_in(dir, "log") == Paths{"tfevents.linked", "b/tfevents.2", "b/sub/tfevents.3", "z/tfevents.1"});
}

TEST_CASE("what is named as an event file and is none is a problem, unless it is a folder") {
  const TempDir dir;
  dir.write("tfevents.0", "");
  REQUIRE(::mkfifo((dir / "tfevents.1").c_str(), 0600) == 0);
  std::filesystem::create_symlink("nowhere", dir / "tfevents.2");
  std::filesystem::create_symlink("/dev/zero", dir / "tfevents.3");
  std::filesystem::create_symlink("nowhere", dir / "tfevents.4.tmp");
  dir.write("tfevents.5/tfevents.6", "");
  const auto storage = storage::open_local_with_links(dir.path());
  REQUIRE(storage);
  CheckedFiles checked;
  const auto files = find_event_files(**storage, checked);
  REQUIRE(files);
  CHECK(files->paths == Paths{"tfevents.0", "tfevents.5/tfevents.6"});
  using smd::ProblemKind;
  std::vector<std::pair<ProblemKind, std::string>> problems;
  for (const smd::Problem& note : files->notes.kept()) {
    problems.emplace_back(note.kind, note.file);
  }
  CHECK(problems == decltype(problems){{ProblemKind::damaged, "tfevents.1"},
                                       {ProblemKind::not_found, "tfevents.2"},
                                       {ProblemKind::damaged, "tfevents.3"},
                                       {ProblemKind::remark, ""}});
}

using smd::detail::layout::ends_in_side;
using smd::detail::layout::sides_of_one;
using Names = std::vector<std::string>;

TEST_CASE("names that are sides") {
  for (const char* name :
       {"train", "validation", "loss_val", "loss_train", "test", "dev", "myTest", "x.eval", "TRAIN"}) {
    CHECK(ends_in_side(name));
  }
  for (const char* name : {"exp1", "std_dev", "train_1", "contest", ""}) {
    CHECK_FALSE(ends_in_side(name));
  }
}

TEST_CASE("names that are a side alone, or equal without it, are sides of one run") {
  CHECK(sides_of_one(Names{"train", "validation", "test"}) == Names{"train", "validation", "test"});
  CHECK(sides_of_one(Names{"loss_train", "loss_val"}) == Names{"loss_train", "loss_val"});
  CHECK(sides_of_one(Names{"train"}) == Names{"train"});
  CHECK(sides_of_one(Names{}).empty());
}

TEST_CASE("a run beside does not change what a run is") {
  CHECK(sides_of_one(Names{"bert_train"}).empty());
  CHECK(sides_of_one(Names{"bert_train", "resnet_train"}).empty());
  CHECK(sides_of_one(Names{"bert_train", "bert_val", "resnet_train"}) == Names{"bert_train", "bert_val"});
  CHECK(sides_of_one(Names{"bert_train", "train", "val"}) == Names{"train", "val"});
  CHECK(sides_of_one(Names{"bert_train", "bert_val", "resnet_train", "resnet_val"}).empty());
}

using smd::detail::layout::WorkersOfRun;

TEST_CASE("a file that begins after the end of all others goes on as the first worker") {
  WorkersOfRun workers;
  CHECK(workers.begin_file("h.1", 10) == 0);
  workers.end_file(0, 20);
  CHECK(workers.begin_file("h.2", 20) == 0);
  workers.end_file(0, 30);
  CHECK(workers.begin_file("h.3", 31) == 0);
}

TEST_CASE("a file of another process that begins before the end of an earlier one is of a concurrent worker") {
  WorkersOfRun workers;
  CHECK(workers.begin_file("h.1", 10) == 0);
  workers.end_file(0, 20);
  CHECK(workers.begin_file("h.2", 11) == 1);
  workers.end_file(1, 19);
  CHECK(workers.begin_file("h.3", 12) == 2);
  workers.end_file(2, 15);
  CHECK(workers.begin_file("h.4", 16) == 2);  // the lowest that it does not overlap
  workers.end_file(2, 40);
  CHECK(workers.begin_file("h.5", 19.5) == 1);
  CHECK(workers.begin_file("h.6", 20) == 0);
}

TEST_CASE("files of one process are of one worker") {
  WorkersOfRun workers;
  CHECK(workers.begin_file("h.1", 10) == 0);
  workers.end_file(0, 20);
  CHECK(workers.begin_file("h.2", 15) == 1);
  workers.end_file(1, 25);
  CHECK(workers.begin_file("h.1", 16) == 0);
  workers.end_file(0, 18);  // ends before the one before
  CHECK(workers.begin_file("h.3", 19) == 2);
  CHECK(workers.begin_file("h.2", 30) == 1);
}
