// SPDX-License-Identifier: Apache-2.0
// Nothing outside a trial is written, whatever stands in it.
#include <smd/hook.hpp>
#include <smd/trial.hpp>

#include "hook/src/atomic_file.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace smd {
namespace {

using detail::hook::LocalOutputOptions;
using detail::hook::open_local_output;
using detail::hook::open_local_output_beneath;
using detail::hook::Output;
using detail::hook::write_atomically;
using detail::storage::Resolve;
using test::read_file;
using test::TempDir;

/// The ways of resolving names that this system has.
std::vector<Resolve> ways() {
  const detail::Descriptor here(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (detail::storage::best_resolve(here.get()) == Resolve::kernel) {
    return {Resolve::kernel, Resolve::by_component};
  }
  MESSAGE("no openat2 here: only the walk by component is tested");
  return {Resolve::by_component};
}

void link_to(const std::string& target, const std::string& path) {
  REQUIRE(::symlink(target.c_str(), path.c_str()) == 0);
}

std::size_t entries(const std::string& path) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
}

std::unique_ptr<Output> open(const std::string& path, Resolve way) {
  auto output = open_local_output(path, LocalOutputOptions{.resolve = way});
  REQUIRE(output);
  return std::move(*output);
}

void save_one_step(HookConfig config) {
  config.save_config = SaveConfigMode{.save_interval = 1};
  config.end_marker = true;
  Hook hook(std::move(config));
  hook.save_tensor("loss", {Dtype::float64, {}, std::as_bytes(std::span<const double>(std::vector<double>{1.5}))},
                   {"losses"});
  hook.close();
}

TEST_CASE("output: a link that leads out of the trial is refused on the way to a file") {
  for (const Resolve way : ways()) {
    CAPTURE(static_cast<int>(way));
    for (const char* const target : {"../out", "/", "sub/../../out", "absolute"}) {
      CAPTURE(target);
      const TempDir dir;
      dir.make_dir("out");
      dir.make_dir("trial/sub");
      const std::string trial = dir / "trial";
      link_to(target == std::string("absolute") ? dir / "out" : std::string(target), trial + "/events");
      const auto output = open(trial, way);
      try {
        write_atomically(*output, "events/000000000001/x", "text", false);
        FAIL("a link that leads out was followed");
      } catch (const ReadError& error) {
        CHECK(error.problem.file == trial + "/events/000000000001");
        CHECK(error.problem.text.find("a symbolic link leads out of the trial's directory") != std::string::npos);
      }
      CHECK(entries(dir / "out") == 0);
      CHECK_FALSE(output->exists("events/000000000001/x"));  // unknown, not "no"
    }
  }
}

TEST_CASE("output: a link that stays within the trial is followed, as in reading") {
  for (const Resolve way : ways()) {
    const TempDir dir;
    dir.make_dir("trial/data");
    link_to("data/./../data", dir / "trial/events");
    const auto output = open(dir / "trial", way);
    write_atomically(*output, "events/000000000001/x", "text", false);
    CHECK(read_file(dir / "trial/data/000000000001/x") == "text");
    CHECK(*output->exists("events/000000000001/x"));
    CHECK_FALSE(*output->exists("events/000000000001/y"));
    CHECK_FALSE(*output->exists("events/000000000002/x"));
  }
}

TEST_CASE("output: what stands under a temporary name is removed, never opened") {
  const TempDir dir;
  dir.write("victim", "precious");
  dir.make_dir("trial");
  const std::string trial = dir / "trial";
  link_to(dir / "victim", trial + "/a.tmp");
  REQUIRE(::mkfifo((trial + "/b.tmp").c_str(), 0600) == 0);
  dir.write("trial/c.tmp", "the first half of an earlier writer's");
  for (const Resolve way : ways()) {
    const auto output = open(trial, way);
    for (const char* const name : {"a", "b", "c"}) {
      write_atomically(*output, name, "new", false);
      CHECK(read_file(trial + "/" + name) == "new");
    }
  }
  CHECK(read_file(dir / "victim") == "precious");
  CHECK(entries(trial) == 3);
}

TEST_CASE("output: a file's own link is replaced, not followed") {
  const TempDir dir;
  dir.write("victim", "precious");
  dir.make_dir("trial");
  link_to(dir / "victim", dir / "trial/training_job_end.ts");
  for (const Resolve way : ways()) {
    write_atomically(*open(dir / "trial", way), "training_job_end.ts", "", false);
  }
  CHECK(read_file(dir / "victim") == "precious");
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(dir / "trial/training_job_end.ts")));
}

TEST_CASE("output: two writers of one name do not share a temporary file") {
  const TempDir dir;
  const auto one = open_local_output(dir / "trial");
  const auto two = open_local_output(dir / "trial");
  REQUIRE(one);
  REQUIRE(two);
  detail::hook::AtomicFile first(**one, "end");
  detail::hook::AtomicFile second(**two, "end");
  first.write("");
  second.write("");
  CHECK(entries(dir / "trial") == 2);
  for (const auto& entry : std::filesystem::directory_iterator(dir / "trial")) {
    CHECK(entry.path().extension() == ".tmp");  // which readers ignore
  }
  first.write("first");
  second.write("second");
  first.commit(false);
  CHECK(read_file(dir / "trial/end") == "first");
  second.commit(false);
  CHECK(read_file(dir / "trial/end") == "second");
  CHECK(entries(dir / "trial") == 1);
}

TEST_CASE("output: a folder of its own beneath another one, but not outside") {
  for (const Resolve way : ways()) {
    const TempDir dir;
    dir.make_dir("out");
    dir.make_dir("trial");
    REQUIRE(open_local_output_beneath(dir / "trial", "good", {.resolve = way}));
    CHECK(std::filesystem::is_directory(dir / "trial/good"));
    link_to("../out", dir / "trial/bad");
    const auto refused = open_local_output_beneath(dir / "trial", "bad", {.resolve = way});
    REQUIRE_FALSE(refused);
    CHECK(refused.problem().file == dir / "trial/bad");
  }
}

TEST_CASE("hook: each folder of a trial that is a link out is refused, and nothing is written there") {
  for (const char* const folder : {"events", "index", "collections", "tensorboard"}) {
    CAPTURE(folder);
    const TempDir dir;
    dir.make_dir("out");
    dir.make_dir("trial");
    link_to(dir / "out", dir / "trial/" + folder);
    try {
      save_one_step({.out_dir = dir / "trial", .export_tensorboard = true});
      FAIL("a link that leads out was followed");
    } catch (const Error& error) {
      const std::string message = error.what();
      CHECK(message.starts_with(dir / "trial/" + folder));
      CHECK(message.find("cannot be written: a symbolic link leads out of the trial's directory") != std::string::npos);
    }
    CHECK(entries(dir / "out") == 0);
  }
}

TEST_CASE("hook: links and FIFOs under every temporary name that earlier versions used are harmless") {
  const TempDir dir;
  dir.write("victim", "precious");
  const std::vector<std::string> names = {"training_job_end.ts", "collections/000000000/worker_0_collections.json",
                                          "index/000000000/000000000000_worker_0.json",
                                          "events/000000000000/000000000000_worker_0.tfevents"};
  for (const bool fifo : {false, true}) {
    const std::string trial = dir / (fifo ? "fifos" : "links");
    for (const std::string& name : names) {
      const std::string path = trial + "/" + name + ".tmp";
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      if (fifo) {
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
      } else {
        link_to(dir / "victim", path);
      }
    }
    save_one_step({.out_dir = trial});
    CHECK(read_file(dir / "victim") == "precious");
    for (const std::string& name : names) {
      CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(trial + "/" + name + ".tmp")));
    }
    CHECK(Trial::open(trial).steps().size() == 1);
    CHECK(Trial::open(trial).ended());
  }
}

}  // namespace
}  // namespace smd
