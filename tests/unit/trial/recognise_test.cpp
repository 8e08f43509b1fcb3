// SPDX-License-Identifier: Apache-2.0
#include "trial/recognise.hpp"

#include "support/temp_dir.hpp"

#include <smd/error.hpp>
#include <smd/find.hpp>
#include <smd/trial.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace smd {
namespace {

using detail::trial::Recognised;
using test::TempDir;
using Paths = std::vector<std::string>;

Recognised recognise_at(const std::string& path) {
  const auto storage = detail::storage::open_local(path);
  REQUIRE(storage);
  const auto links = detail::storage::open_local_with_links(path);
  return detail::trial::recognise(**storage, [&]() -> detail::storage::Storage& { return **links; });
}

constexpr const char* event_file = "events.out.tfevents.1700000000.host.1.0";

TEST_CASE("names tell which layout it is, a debugger trial first") {
  const TempDir dir;
  dir.make_dir("empty");
  dir.write(std::string("logs/") + event_file, "");
  dir.write(std::string("job/collections/000000000/worker_0_collections.json"), "");
  dir.write(std::string("job/tensorboard/") + event_file, "");
  dir.make_dir("outer/debug-output");
  dir.write(std::string("outer/tensorboard/") + event_file, "");
  dir.write("steps/events/000000000001/000000000001_worker_0.tfevents", "");
  dir.write(std::string("run_events/events/") + event_file, "");
  dir.write(std::string("pairs/train/") + event_file, "");
  dir.write(std::string("pairs/validation/") + event_file, "");
  CHECK(recognise_at(dir / "empty").kind == Recognised::Kind::nothing);
  CHECK(recognise_at(dir / "logs").kind == Recognised::Kind::tensorboard);
  CHECK(recognise_at(dir / "job").kind == Recognised::Kind::debugger);
  CHECK(recognise_at(dir / "outer").kind == Recognised::Kind::inner);
  CHECK(recognise_at(dir / "steps").kind == Recognised::Kind::debugger);
  CHECK(recognise_at(dir / "pairs").kind == Recognised::Kind::tensorboard);
  const Recognised one = recognise_at(dir / "run_events");
  CHECK(one.kind == Recognised::Kind::several_runs);
  CHECK(one.runs == Paths{"events"});
}

TEST_CASE("several runs are named") {
  const TempDir dir;
  for (const char* run : {"exp2", "exp1", "deep/a", "deep/b"}) {
    dir.write(std::string(run) + "/" + event_file, "");
  }
  CHECK(recognise_at(dir.path()).runs == Paths{"deep/a", "deep/b", "exp1", "exp2"});
  try {
    (void)Trial::open(dir.path());
    FAIL("opened");
  } catch (const MissingCollectionFiles& error) {
    CHECK(std::string(error.what()) == "'" + dir.path() +
                                           "' holds 4 runs: deep/a, deep/b, exp1 …; name one, or all of them with "
                                           "`smd-ls --find " +
                                           dir.path() + "`");
    CHECK(error.ended);  // waiting does not help
  }
}

TEST_CASE("runs that links lead to are found, each folder once") {
  const TempDir dir;
  for (const char* run : {"place/exp1", "elsewhere/x", "place/keras/train", "val"}) {
    dir.write(std::string(run) + "/" + event_file, "");
  }
  namespace fs = std::filesystem;
  fs::create_directory_symlink("exp1", dir / "place/latest");
  fs::create_directory_symlink(dir / "elsewhere", dir / "place/linked");
  fs::create_directory_symlink(dir / "elsewhere", dir / "place/linked_again");
  fs::create_directory_symlink(dir / "val", dir / "place/keras/validation");
  CHECK(find_trials(dir / "place") == Paths{dir / "place/exp1", dir / "place/keras", dir / "place/linked/x"});
  CHECK(recognise_at(dir / "place").runs == Paths{"exp1", "keras", "linked/x"});
}

TEST_CASE("a folder of a trial is recognised as such") {
  const TempDir dir;
  dir.write(std::string("t/") + event_file, "");
  dir.write(std::string("t/sub/") + event_file, "");
  dir.write(std::string("k/train/") + event_file, "");
  dir.write(std::string("k/validation/") + event_file, "");
  const auto notes = [](const std::string& path) {
    Paths texts;
    for (const Problem& problem : Trial::open(path).problems()) {
      texts.push_back(problem.text);
    }
    return texts;
  };
  CHECK(notes(dir / "t/sub/") == Paths{"'" + dir.path() + "/t/sub/' is a folder of the trial '" + dir.path() + "/t'"});
  CHECK(notes(dir / "k/train") ==
        Paths{"'" + dir.path() + "/k/train' is a folder of the trial '" + dir.path() + "/k'"});
  CHECK(notes(dir / "t").empty());
}

TEST_CASE("recorded debugger trials are no log directories") {
  std::size_t trials = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SMD_RECORDED_TRIALS)) {
    const std::filesystem::path folder = entry.path();
    if (!entry.is_directory() || !std::filesystem::is_directory(folder / "collections" / "000000000")) {
      continue;
    }
    CAPTURE(folder.string());
    CHECK(recognise_at(folder.string()).kind == Recognised::Kind::debugger);
    ++trials;
  }
  CHECK(trials > 10);
}

}  // namespace
}  // namespace smd
