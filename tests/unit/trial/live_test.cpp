// SPDX-License-Identifier: Apache-2.0
// Waiting and following, with a hand-wound clock and a scripted directory.
#include <smd/find.hpp>
#include <smd/follow.hpp>
#include <smd/trial.hpp>

#include "scripted_trial.hpp"
#include "text/limits.hpp"
#include "text/whole_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace smd::test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;

/// `5 8 ended`: the steps that come until something else does.
std::string follow(StepFollower& follower) {
  std::string text;
  while (true) {
    const FollowEvent event = follower.next();
    switch (event.outcome) {
      case WaitOutcome::reached:
        text += std::to_string(event.step.value) + (event.late ? "(late) " : " ");
        for (const std::string& file : event.missing) {
          text += "without " + file + " ";
        }
        continue;
      case WaitOutcome::ended:
        return text + "ended";
      case WaitOutcome::timed_out:
        return text + "timed out";
      case WaitOutcome::idle:
        return text + "idle";
      case WaitOutcome::stopped:
        return text + "stopped";
    }
  }
}

/// A trial of some workers, empty but for the collections, and what will happen to it.
struct Live {
  explicit Live(int workers = 1) : builder(dir.path()) {
    for (int worker = 0; worker < workers; ++worker) {
      builder.collections("worker_" + std::to_string(worker), workers);
    }
  }
  void step_at(std::chrono::milliseconds when, std::int64_t step, int worker = 0, Mode mode = Mode::train) {
    script.at(when, [=, this] { builder.step(simple_step(step, "worker_" + std::to_string(worker), mode)); });
  }
  void end_at(std::chrono::milliseconds when) {
    script.at(when, [this] { builder.end(); });
  }

  TempDir dir;
  TrialBuilder builder;
  Script script;
};

WaitOutcome wait_for(const Trial& trial, StepKey step, const WaitOptions& options = {}) {
  return trial.wait_for_steps({&step, 1}, options);
}

}  // namespace

TEST_CASE("steps are given once, in order, as they are complete, until the job ends") {
  Live live;
  live.builder.step(simple_step(0));
  live.step_at(100ms, 3);
  live.step_at(200ms, 7);
  live.end_at(300ms);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial);
  CHECK(follow(follower) == "0 3 7 ended");
  CHECK(live.script.elapsed() == 1300ms);  // the end is believed after a second
  CHECK(follow(follower) == "ended");
  CHECK(follower.method() == "script");
}

TEST_CASE("a step of several workers is given when all wrote it, or a later one is complete") {
  Live live(2);
  live.step_at(10ms, 0, 1);
  live.step_at(20ms, 1, 1);
  live.step_at(30ms, 1, 0);  // completes 1: a worker that has not written 0 will not
  live.step_at(40ms, 2, 0);
  live.end_at(50ms);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial);
  const FollowEvent first = follower.next();
  CHECK(first.step == GlobalStep(0));
  CHECK(live.script.elapsed() == 30ms);
  CHECK(first.mode == Mode::train);
  CHECK(first.mode_step == ModeStep(0));
  CHECK(follower.next().step == GlobalStep(1));
  const FollowEvent last = follower.next();
  CHECK(last.step == GlobalStep(2));  // only the end makes it complete
  CHECK(live.script.elapsed() == 1050ms);
  CHECK(follower.next().outcome == WaitOutcome::ended);
}

TEST_CASE("the end file before the last index files: the scan after the delay finds them") {
  Live live(2);
  live.builder.step(simple_step(0)).step(simple_step(0, "worker_1"));
  live.end_at(100ms);
  live.step_at(900ms, 1, 0);  // the other worker is not done; the delay begins anew
  live.step_at(1800ms, 1, 1);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial);
  CHECK(follow(follower) == "0 1 ended");
  CHECK(live.script.elapsed() == 2800ms);
}

TEST_CASE("the end marker of one worker does not end the job while another goes on") {
  Live live(2);
  live.builder.step(simple_step(0)).step(simple_step(0, "worker_1"));
  const auto mark_at = [&](std::chrono::milliseconds when, std::chrono::milliseconds ago = {}) {
    live.script.at(when, [&live, ago] {
      live.builder.end();
      live.script.mark(ago);
    });
  };
  const auto given = [&] {
    const Trial trial = live.script.open(live.dir.path());
    StepFollower follower(trial);
    return follow(follower);
  };
  SUBCASE("it lacks a step, and writes that and more, until it is done too") {
    live.step_at(100ms, 1, 0);
    mark_at(110ms);
    live.step_at(40s, 1, 1);
    live.step_at(80s, 2, 1);
    live.step_at(120s, 3, 1);
    mark_at(121s);
    CHECK(given() == "0 1 2 3 ended");
    CHECK(live.script.elapsed() == 181s);  // nobody knows that the other one lacks steps on purpose
  }
  SUBCASE("one worker writes the marker twice, as at close and at exit") {
    live.step_at(100ms, 1, 0);
    mark_at(110ms);
    mark_at(500ms);
    live.step_at(10s, 1, 1);
    mark_at(10'100ms);
    CHECK(given() == "0 1 ended");
    CHECK(live.script.elapsed() == 11'100ms);
  }
  SUBCASE("it has all steps, and goes on: until nothing has come for a minute") {
    mark_at(100ms);
    live.step_at(900ms, 1, 1);
    live.step_at(50s, 2, 1);
    CHECK(given() == "0 1 2 ended");
    CHECK(live.script.elapsed() == 110s);
  }
  SUBCASE("it died: nothing comes for a minute") {
    live.step_at(100ms, 1, 0);
    mark_at(110ms);
    CHECK(given() == "0 1 ended");
    CHECK(live.script.elapsed() == 60'110ms);
  }
  SUBCASE("the marker is older than that") {
    live.step_at(100ms, 1, 0);
    mark_at(110ms, 2min);
    CHECK(given() == "0 1 ended");
    CHECK(live.script.elapsed() == 1110ms);
  }
  SUBCASE("both are done at once") {
    live.step_at(100ms, 1, 0);
    mark_at(110ms);
    live.step_at(120ms, 1, 1);
    mark_at(130ms);
    CHECK(given() == "0 1 ended");
    CHECK(live.script.elapsed() == 1130ms);
  }
}

TEST_CASE("a run that comes beside the only one of a folder is named in a warning to those who follow that") {
  const TempDir dir;
  Script script;
  const auto begin = [&](const std::string& name) {
    TrialBuilder builder(dir / name);
    builder.collections("worker_0", 1).step(simple_step(0));
    return builder;
  };
  begin("version_0");
  const Trial trial = script.open(dir.path());
  const auto warnings = [&] {
    Texts texts;
    for (const Problem& problem : trial.problems()) {
      if (problem.kind == ProblemKind::warning) {
        texts.push_back(problem.text);
      }
    }
    return texts;
  };
  script.at(10s, [&] { std::filesystem::create_directory(dir / "version_1"); });  // no run yet
  script.at(20s, [&] { begin("version_1"); });
  StepFollower before(trial, {.wait = {.deadline = script.after(15s)}});
  CHECK(follow(before) == "0 timed out");
  CHECK(warnings().empty());
  StepFollower after(trial, {.wait = {.deadline = script.after(30s)}});
  CHECK(follow(after) == "0 timed out");
  CHECK(warnings() == Texts{"another run has come beside it and is not read; begin anew with '" + dir.path() + "'"});
}

TEST_CASE("a step behind those given is given all the same, and said to be late") {
  Live live;
  live.step_at(10ms, 5);
  live.step_at(20ms, 2);
  live.step_at(30ms, 6);
  live.end_at(40ms);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial);
  CHECK(follow(follower) == "5 2(late) 6 ended");
}

TEST_CASE("a listing that misses a file and has a later one puts no step out of order") {
  Live live;
  live.builder.step(simple_step(0));
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial);
  SUBCASE("while it waits") {
    live.script.at(10ms, [&] {
      live.builder.step(simple_step(1)).step(simple_step(2));
      live.script.miss_once("000000000001_worker_0.json");
    });
    live.end_at(20ms);
    CHECK(follower.next().step == GlobalStep(0));
    CHECK(follow(follower) == "1 2 ended");
  }
  SUBCASE("as it is polled") {
    live.builder.step(simple_step(1)).step(simple_step(2));
    live.script.miss_once("000000000001_worker_0.json");
    for (const std::int64_t step : {0, 1, 2}) {
      const auto event = follower.poll();
      REQUIRE(event);
      CHECK(event->step == GlobalStep(step));
      CHECK_FALSE(event->late);
    }
    CHECK_FALSE(follower.poll());
  }
}

TEST_CASE("a step is given again with what a saver or a late worker adds to it, not for an equal index file") {
  Live live(2);
  live.builder.step(simple_step(0)).step(simple_step(1)).step(simple_step(1, "worker_1"));
  const std::string index = live.dir / index_path(0, "worker_0");
  const auto replace = [&](std::chrono::milliseconds when, const BuiltStep& step) {
    live.script.at(when, [&live, index, when, step] {
      std::filesystem::rename(index, index + std::to_string(when.count()) + ".tmp");  // keeps its inode in use
      live.builder.step(step);
    });
  };
  replace(10ms, simple_step(0));
  BuiltStep more = simple_step(0);
  more.tensors.emplace_back("b", std::vector<float>{7});
  replace(20ms, more);
  live.step_at(30ms, 0, 1);
  live.end_at(40ms);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial);
  CHECK(follower.next().step == GlobalStep(0));
  CHECK(follower.next().step == GlobalStep(1));
  for (const auto& [when, entry] : {std::pair(20ms, "b worker_0"), std::pair(30ms, "a worker_1")}) {
    const FollowEvent again = follower.next();
    CHECK(again.step == GlobalStep(0));
    CHECK_FALSE(again.late);
    CHECK(live.script.elapsed() == when);
    Texts entries;
    trial.for_each_entry({.steps = {{again.step}}, .arrivals = again.arrivals}, [&](const TensorEntry& one) {
      entries.push_back(std::string(one.tensor) + " " + std::string(one.worker));
      return true;
    });
    CHECK(entries == Texts{entry});
  }
  CHECK(trial.tensor_names({.step = GlobalStep(0)}) == Texts{"a", "b"});
  CHECK(trial.tensor("b").value(GlobalStep(0)).item() == 7);
  CHECK(follow(follower) == "ended");
}

TEST_CASE("a step is not given again before its event file is there") {
  Live live;
  live.builder.step(simple_step(0)).step(simple_step(1));
  const std::string index = live.dir / index_path(0, "worker_0");
  const std::string events = live.dir / events_path(0, "worker_0");
  BuiltStep more = simple_step(0);
  more.tensors.emplace_back("b", std::vector<float>{7});
  live.script.at(20ms, [&] {
    std::filesystem::rename(index, index + ".old.tmp");  // keeps its inode in use
    live.builder.step(more);
    std::filesystem::rename(events, events + ".late");
  });
  live.step_at(30ms, 2);
  live.script.at(50ms, [&] { std::filesystem::rename(events + ".late", events); });
  live.end_at(90ms);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial, {.records = true});
  for (const std::int64_t step : {0, 1, 0, 2}) {
    const FollowEvent event = follower.next();
    CHECK(event.step == GlobalStep(step));
    CHECK(event.missing.empty());
  }
  CHECK(trial.tensor("b").value(GlobalStep(0)).item() == 7);
  CHECK(follow(follower) == "ended");
}

TEST_CASE("only what comes after a step is given") {
  Live live;
  live.builder.step(simple_step(0)).step(simple_step(5)).step(simple_step(9));
  live.step_at(10ms, 4);  // before it: not asked for
  live.step_at(20ms, 8);
  live.end_at(30ms);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial, {.after = GlobalStep(5)});
  CHECK(follow(follower) == "9 8(late) ended");
}

TEST_CASE("the window: too many incomplete steps let the oldest go") {
  Live live(2);
  for (int step = 0; step < 6; ++step) {
    live.step_at(10ms * (step + 1), step, 0);
  }
  TrialOptions options;
  options.incomplete_step_wait_window = 4;
  const Trial trial = live.script.open(live.dir.path(), options);
  StepFollower follower(trial, {.wait = {.deadline = live.script.after(1s)}});
  // With the fifth, 5 > 4 are incomplete: 4 / 2 of them go; the sixth makes 4 left, not more than 4.
  CHECK(follow(follower) == "0 1 timed out");
}

TEST_CASE("deadlines, idle time and stop tokens end a following; steps that are there come first") {
  Live live;
  live.builder.step(simple_step(0)).step(simple_step(1));
  live.step_at(400ms, 2);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower now(trial, {.wait = {.deadline = live.script.after(0ms)}});
  CHECK(follow(now) == "0 1 timed out");
  CHECK(live.script.elapsed() == 0ms);
  StepFollower idle(trial, {.wait = {.idle = 500ms}});
  CHECK(follow(idle) == "0 1 2 idle");
  CHECK(live.script.elapsed() == 900ms);
  std::stop_source source;
  source.request_stop();
  StepFollower stopped(trial, {.wait = {.stop = source.get_token()}});
  CHECK(follow(stopped) == "stopped");
}

TEST_CASE("an end marker is believed when there is no time left to doubt it, after one more look") {
  Live live(2);
  live.builder.step(simple_step(0));  // by one of two workers: complete only when the job is over
  live.builder.end();
  const auto given = [&](FollowOptions options) {
    const Trial trial = live.script.open(live.dir.path());
    StepFollower follower(trial, std::move(options));
    const std::string text = follow(follower);
    CHECK(follow(follower) == text.substr(text.rfind(' ') + 1));
    return text;
  };
  CHECK(given({.wait = {.deadline = live.script.after(0ms)}}) == "0 ended");
  CHECK(live.script.elapsed() == 0ms);
  CHECK(given({.wait = {.idle = 300ms}}) == "0 ended");
  CHECK(live.script.elapsed() == 300ms);
  live.script.when_listed("000000000000_worker_0.json", [&] { live.builder.step(simple_step(1)); });
  CHECK(given({.wait = {.deadline = live.script.after(0ms)}}) == "0 1 ended");

  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial, {.wait = {.deadline = live.script.after(0ms)}});
  CHECK(follower.poll()->step == GlobalStep(0));
  CHECK(follower.poll()->step == GlobalStep(1));
  CHECK(follower.poll()->outcome == WaitOutcome::ended);
}

TEST_CASE("poll never waits") {
  Live live;
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial);
  CHECK_FALSE(follower.poll());
  live.builder.step(simple_step(4));
  REQUIRE(follower.poll());
  CHECK_FALSE(follower.poll());
  CHECK(live.script.waits() == 0);
}

TEST_CASE("an event file that comes after its index file is waited for, so long and no longer") {
  for (const bool comes : {true, false}) {
    CAPTURE(comes);
    Live live;
    const StepFiles files = encode_step(simple_step(0));
    live.builder.file(index_path(0, "worker_0"), files.index);
    const std::string name = events_path(0, "worker_0");
    live.script.at(100ms, [&] { live.builder.file(name, files.events.substr(0, 20)); });
    if (comes) {
      live.script.at(5s, [&] { live.builder.file(name, files.events); });
    }
    ::setenv("SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT", "10", 1);
    const Trial trial = live.script.open(live.dir.path());
    ::unsetenv("SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT");
    StepFollower follower(trial, {.wait = {.idle = 100s}});
    const FollowEvent event = follower.next();
    CHECK(event.outcome == WaitOutcome::reached);
    CHECK(event.missing == (comes ? Texts{} : Texts{name}));
    // Looks come after 10, 20, 40 … ms up to the interval of 2 s: at 10, 30, 70 … 2550, 4550, 6550 … 18550, 20550 ms.
    // The limit is ten intervals.
    CHECK(live.script.elapsed() == (comes ? 6550ms : 20550ms));
    CHECK(follower.next().outcome == WaitOutcome::idle);
  }
}

TEST_CASE("an event file is given up at once when its writer went on, or the job is over") {
  Live live;
  live.builder.file(index_path(0, "worker_0"), encode_step(simple_step(0)).index).step(simple_step(1));
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial, {.wait = {.deadline = live.script.after(0ms)}});
  CHECK(follow(follower) == "0 without " + events_path(0, "worker_0") + " 1 timed out");
  StepFollower careless(trial, {.wait = {.deadline = live.script.after(0ms)}, .records = false});
  CHECK(follow(careless) == "0 1 timed out");
}

TEST_CASE("a half-written index file that does not change for ten seconds is damage") {
  Live live;
  live.builder.step(simple_step(0));
  const std::string whole = encode_step(simple_step(1)).index;
  live.script.at(0ms, [&] { live.builder.file(index_path(1, "worker_0"), whole.substr(0, 40)); });
  live.script.at(6s, [&] { live.builder.file(index_path(1, "worker_0"), whole.substr(0, 60)); });
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial, {.wait = {.deadline = live.script.after(15s)}});
  CHECK(follow(follower) == "0 timed out");
  CHECK(kinds_and_files(trial.problems()) == Texts{"NotYet index/000000000/000000000001_worker_0.json"});
  StepFollower longer(trial, {.wait = {.deadline = live.script.after(17s)}, .after = GlobalStep(0)});
  CHECK(follow(longer) == "timed out");
  CHECK(kinds_and_files(trial.problems()) == Texts{"Damaged index/000000000/000000000001_worker_0.json"});
}

TEST_CASE("index removed and made anew: nothing twice, nothing missed") {
  Live live;
  live.builder.step(simple_step(0)).step(simple_step(1));
  live.script.at(10ms, [&] { std::filesystem::remove_all(live.dir / "index"); });
  live.script.at(20ms, [&] {
    for (std::int64_t step = 0; step < 3; ++step) {
      live.builder.step(simple_step(step));
    }
  });
  live.end_at(30ms);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial);
  CHECK(follow(follower) == "0 1 2 ended");
}

TEST_CASE("index removed after it was listed and before its files were read: they are waited for") {
  Live live;
  live.builder.step(simple_step(0));
  live.script.at(10ms, [&] {
    live.builder.step(simple_step(1));
    live.script.when_listed("000000000001_worker_0.json",
                            [&] { std::filesystem::rename(live.dir / "index", live.dir / "kept"); });
  });
  const Trial trial = live.script.open(live.dir.path());
  SUBCASE("and come anew") {
    live.script.at(20ms, [&] { std::filesystem::rename(live.dir / "kept", live.dir / "index"); });
    live.end_at(30ms);
    StepFollower follower(trial);
    CHECK(follow(follower) == "0 1 ended");
    CHECK(trial.problems().empty());
  }
  SUBCASE("and stay away") {
    StepFollower follower(trial, {.wait = {.deadline = live.script.after(1s)}});
    CHECK(follow(follower) == "0 timed out");
    CHECK(kinds_and_files(trial.problems()) == Texts{"NotYet index/000000000/000000000001_worker_0.json"});
  }
}

TEST_CASE("an index file that is a link to nowhere is an error, though the job runs") {
  Live live;
  live.builder.step(simple_step(0));
  const std::filesystem::path place = live.dir / index_path(1, "worker_0");
  std::filesystem::create_symlink("nothing", place);
  CHECK(kinds_and_files(live.script.open(live.dir.path()).problems()) ==
        Texts{"NotFound index/000000000/000000000001_worker_0.json"});
}

TEST_CASE("a trial that is removed, moved away or loses its collections while it is followed is an error") {
  Live live;
  live.builder.step(simple_step(0));
  const Trial trial = live.script.open(live.dir.path());
  const std::string elsewhere = live.dir.path() + ".moved";
  SUBCASE("removed") {
    live.script.at(10ms, [&] { std::filesystem::remove_all(live.dir.path()); });
  }
  SUBCASE("moved") {
    live.script.at(10ms, [&] { std::filesystem::rename(live.dir.path(), elsewhere); });
  }
  SUBCASE("collections") {
    live.script.at(10ms, [&] { std::filesystem::remove_all(live.dir / "collections"); });
  }
  StepFollower follower(trial);
  CHECK(follower.next().step == GlobalStep(0));
  try {
    (void)follower.next();
    FAIL("no error");
  } catch (const ReadError& error) {
    CHECK(error.problem.kind == ProblemKind::not_found);
    CHECK(error.problem.file == live.dir.path());
  }
  std::filesystem::remove_all(elsewhere);
}

TEST_CASE("another trial in the place of the one that is followed is given from its beginning") {
  Live live;
  live.builder.step(simple_step(0)).step(simple_step(1));
  live.script.at(10ms, [&] {
    std::filesystem::remove_all(live.dir.path());
    std::filesystem::create_directories(live.dir.path());
    live.builder.collections().step(simple_step(0));
  });
  live.end_at(20ms);
  const Trial trial = live.script.open(live.dir.path());
  StepFollower follower(trial);
  CHECK(follow(follower) == "0 1 0 ended");
}

TEST_CASE("a trial that is moved away may be replaced by another within two seconds") {
  Live live;
  TempDir other;
  live.builder.step(simple_step(0));
  TrialBuilder(other.path()).collections().step(simple_step(3)).end();
  const std::string elsewhere = live.dir.path() + ".moved";
  live.script.at(10ms, [&] { std::filesystem::rename(live.dir.path(), elsewhere); });
  const Trial trial = live.script.open(live.dir.path());
  const auto put = [&] { std::filesystem::rename(other.path(), live.dir.path()); };
  SUBCASE("followed") {
    live.script.at(1900ms, put);
    StepFollower follower(trial);
    CHECK(follow(follower) == "0 3 ended");
  }
  SUBCASE("its folder comes first") {
    live.script.at(500ms, [&] { std::filesystem::create_directory(live.dir.path()); });
    live.script.at(1000ms, put);
    StepFollower follower(trial);
    CHECK(follow(follower) == "0 3 ended");
  }
  SUBCASE("waited for") {
    live.script.at(500ms, put);
    CHECK(wait_for(trial, {Mode::global, ModeStep(3)}) == WaitOutcome::reached);
  }
  SUBCASE("not in time") {
    live.script.at(3000ms, put);
    StepFollower follower(trial);
    CHECK(follower.next().step == GlobalStep(0));
    CHECK_THROWS_AS((void)follower.next(), ReadError);
    CHECK(live.script.elapsed() == 2010ms);
  }
  std::filesystem::remove_all(elsewhere);
}

TEST_CASE("wait_for_steps returns when the steps are available, and leaves refreshing as it is") {
  Live live;
  live.step_at(10ms, 0);
  live.step_at(20ms, 4);
  const Trial trial = live.script.open(live.dir.path());
  CHECK(wait_for(trial, GlobalStep(4)) == WaitOutcome::reached);
  CHECK(live.script.elapsed() == 20ms);
  live.builder.step(simple_step(5));
  CHECK(numbers(trial.steps()) == Numbers{0, 4});
  CHECK(wait_for(trial, {Mode::train, ModeStep(9)}, {.deadline = live.script.after(100ms)}) == WaitOutcome::timed_out);
  CHECK(live.script.elapsed() == 100ms);
  std::stop_source source;
  source.request_stop();
  CHECK(wait_for(trial, GlobalStep(9), {.stop = source.get_token()}) == WaitOutcome::stopped);
}

TEST_CASE("a wait ends when no further step became complete for so long") {
  Live live(2);
  live.step_at(10ms, 0, 0);
  live.step_at(40ms, 0, 1);
  live.step_at(60ms, 1, 0);  // not complete: the other worker is missing
  const Trial trial = live.script.open(live.dir.path());
  CHECK(wait_for(trial, GlobalStep(9), {.idle = 50ms}) == WaitOutcome::idle);
  CHECK(live.script.elapsed() == 90ms);  // step 0 was complete after 40
  CHECK(wait_for(trial, GlobalStep(9), {.deadline = live.script.after(110ms), .idle = 50ms}) == WaitOutcome::timed_out);
  CHECK(live.script.elapsed() == 110ms);
  CHECK(trial.wait_until([] { return false; }, {.idle = 30ms}) == WaitOutcome::idle);
}

TEST_CASE("steps before the range that is waited for are no idle time") {
  const auto waits = [](bool log) {
    Live live;
    if (log) {
      std::filesystem::remove_all(live.dir / "collections");
      live.dir.write("metrics.csv", "step,loss\n0,1\n");
    }
    for (int step = 1; step < 4; ++step) {
      live.script.at(40ms * step, [&live, log, step] {
        if (log) {
          std::ofstream(live.dir / "metrics.csv", std::ios::app) << step << ",1\n";
        } else {
          live.builder.step(simple_step(step));
        }
      });
    }
    const TrialOptions options{.range_steps = {.first = GlobalStep(3)}};
    const Trial trial = live.script.open(live.dir.path(), options);
    StepFollower follower(trial, {.wait = {.idle = 50ms}});
    const std::string followed = follow(follower);
    return followed + " " + std::to_string(live.script.elapsed() / 1ms);
  };
  CHECK(waits(false) == "3 idle 170");
  CHECK(waits(true) == "3 idle 170");
  Live live;
  for (int step = 0; step < 3; ++step) {
    live.step_at(40ms * (step + 1), step);
  }
  const Trial trial = live.script.open(live.dir.path(), {.range_steps = {.first = GlobalStep(9)}});
  CHECK(wait_for(trial, GlobalStep(9), {.idle = 50ms}) == WaitOutcome::idle);
  CHECK(live.script.elapsed() == 170ms);
}

TEST_CASE("a step is whole once a later one has come, and nothing up to it for ten seconds") {
  const detail::WholeSteps::Time start{1h};
  detail::WholeSteps steps;
  steps.came(GlobalStep(10), start);
  CHECK_FALSE(steps.whole_at(GlobalStep(10)));
  CHECK(steps.whole_at(GlobalStep(9)) == start + 10s);
  steps.came(GlobalStep(30), start + 5s);
  CHECK(steps.whole_at(GlobalStep(29)) == start + 15s);
  steps.came(GlobalStep(20), start + 8s);
  CHECK(steps.whole_at(GlobalStep(19)) == start + 15s);
  CHECK(steps.whole_at(GlobalStep(29)) == start + 18s);
  CHECK_FALSE(steps.end(start + 9s));
  CHECK(steps.end(start + 10s) == GlobalStep(10));
  CHECK(steps.end(start + 15s) == GlobalStep(20));
  CHECK(steps.end(start + 18s) == GlobalStep(30));
  steps.came(GlobalStep(31), start + 30s);
  steps.came(GlobalStep(5), start + 31s);
  CHECK(steps.end(start + 31s) == GlobalStep(5));
  CHECK(steps.whole_at(GlobalStep(30)) == start + 41s);
  // Times are kept as tenths of a second, so that a million steps that come at once take no memory.
  for (std::int64_t step = 40; step < 1'000'000; ++step) {
    steps.came(GlobalStep(step), start + 50s + std::chrono::microseconds(step));
  }
  CHECK(steps.whole_at(GlobalStep(31)) == start + 60100ms);
  CHECK(steps.whole_at(GlobalStep(100'000)) == start + 60200ms);
  CHECK(steps.whole_at(GlobalStep(999'998)) == start + 61s);
  CHECK(steps.end(start + 60500ms) == GlobalStep(500'000));
}

/// A log that has steps 0 and 9; step 5 comes late, as another file brings it, without values that go back.
struct LateLog {
  LateLog() {
    script.at(500ms, [this] { std::ofstream(file, std::ios::app) << "5,,3\n"; });
  }
  TempDir dir;
  const std::string file = dir.write("metrics.csv", "step,b,a\n0,1,\n9,1,\n");
  Script script;
  const Trial trial = script.open(dir.path());
};

TEST_CASE_FIXTURE(LateLog, "wait_for_steps: a step that may come late was skipped only once all up to it is whole") {
  CHECK(wait_for(trial, GlobalStep(5)) == WaitOutcome::reached);
  CHECK(script.elapsed() == 500ms);
  CHECK(wait_for(trial, GlobalStep(7), {.deadline = script.after(2s)}) == WaitOutcome::timed_out);
  CHECK_THROWS_AS(wait_for(trial, GlobalStep(4)), StepUnavailable);
  CHECK(script.elapsed() == 10s);  // after 9
  CHECK_THROWS_AS(wait_for(trial, GlobalStep(7)), StepUnavailable);
  CHECK(script.elapsed() == 10500ms);  // after 5
  CHECK_THROWS_AS(wait_for(trial, GlobalStep(2)), StepUnavailable);
  CHECK(script.elapsed() == 10500ms);  // not ten seconds for each
}

TEST_CASE_FIXTURE(LateLog, "steps are held back until they are whole") {
  const auto given = [&](const FollowOptions& options) {
    StepFollower follower(trial, options);
    std::string text;
    for (FollowEvent event = follower.next(); event.outcome == WaitOutcome::reached; event = follower.next()) {
      text += std::to_string(event.step.value) + "@" + std::to_string(script.elapsed() / 1ms) + " ";
    }
    return text;
  };
  SUBCASE("all of them") {
    CHECK(given({.wait = {.deadline = script.after(100s)}, .whole_before = GlobalStep(INT64_MAX)}) ==
          "0@10000 5@10500 9@60500 ");
  }
  SUBCASE("those of a range") {
    CHECK(given({.wait = {.deadline = script.after(100s)}, .whole_before = GlobalStep(9)}) ==
          "0@10000 5@10500 9@10500 ");
  }
  SUBCASE("none") { CHECK(given({.wait = {.deadline = script.after(100s)}}) == "0@0 9@0 5@500 "); }
  SUBCASE("while there is time") {
    CHECK(given({.wait = {.deadline = script.after(1s)}, .whole_before = GlobalStep(INT64_MAX)}) ==
          "0@1000 5@1000 9@1000 ");
  }
}

TEST_CASE("wait_for_steps: a step is not taken for skipped because a listing missed it") {
  Live live;
  live.builder.step(simple_step(0));
  live.script.at(10ms, [&] {
    live.builder.step(simple_step(1)).step(simple_step(2));
    live.script.miss_once("000000000001_worker_0.json");
  });
  const Trial trial = live.script.open(live.dir.path());
  CHECK(wait_for(trial, GlobalStep(1)) == WaitOutcome::reached);
  CHECK(live.script.elapsed() == 10ms);
}

TEST_CASE("wait_for_steps: skipped is StepUnavailable at once, past the end is NoMoreData after the end") {
  Live live;
  live.step_at(10ms, 0);
  live.step_at(20ms, 4);
  live.end_at(50ms);
  const Trial trial = live.script.open(live.dir.path());
  CHECK_THROWS_AS(wait_for(trial, GlobalStep(3)), StepUnavailable);
  CHECK(live.script.elapsed() == 20ms);
  CHECK_THROWS_AS(wait_for(trial, GlobalStep(5)), NoMoreData);
  CHECK(live.script.elapsed() == 1050ms);
  CHECK_THROWS_AS(wait_for(trial, {Mode::eval, ModeStep(0)}), NoMoreData);
  CHECK_THROWS_AS(wait_for(trial, GlobalStep(1)), StepUnavailable);
}

TEST_CASE("wait_for_steps: in an ended job a deadline decides nothing") {
  Live live;
  live.builder.step(simple_step(0)).step(simple_step(4)).end();
  const Trial trial = live.script.open(live.dir.path());
  for (const auto time : {0ms, 300ms, 3000ms}) {
    const auto within = [&] { return WaitOptions{.deadline = live.script.after(time)}; };
    CHECK_THROWS_AS(wait_for(trial, GlobalStep(9), within()), NoMoreData);
    CHECK_THROWS_AS(wait_for(trial, GlobalStep(3), within()), StepUnavailable);
    CHECK(wait_for(trial, GlobalStep(4), within()) == WaitOutcome::reached);
  }
}

TEST_CASE("wait_until asks after each look, without refreshing, and says when the job is over") {
  Live live;
  live.step_at(10ms, 0);
  live.step_at(20ms, 1);
  live.end_at(30ms);
  const Trial trial = live.script.open(live.dir.path());
  const Refresh refreshing(trial);
  CHECK(trial.wait_until([&] { return trial.steps().size() == 2; }) == WaitOutcome::reached);
  CHECK(live.script.elapsed() == 20ms);
  CHECK(trial.wait_until([&] { return trial.steps().size() == 3; }) == WaitOutcome::ended);
  CHECK(live.script.elapsed() == 1030ms);
}

TEST_CASE("guards turn refreshing off and on, and back") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections().step(simple_step(0));
  const Trial trial = Trial::open(dir.path());
  {
    const NoRefresh still(trial);
    builder.step(simple_step(1));
    CHECK(trial.steps().size() == 1);
    {
      const Refresh again{trial};
      CHECK(trial.steps().size() == 2);
    }
    builder.step(simple_step(2));
    CHECK(trial.steps().size() == 2);
  }
  CHECK(trial.steps().size() == 3);
}

TEST_CASE("guards of several trials") {
  const TempDir first_dir;
  const TempDir second_dir;
  TrialBuilder first(first_dir.path());
  TrialBuilder second(second_dir.path());
  first.collections().step(simple_step(0));
  second.collections().step(simple_step(0));
  const Trial one = Trial::open(first_dir.path());
  const Trial two = Trial::open(second_dir.path());
  {
    const NoRefresh none(std::array{&one, &two});
    first.step(simple_step(1));
    second.step(simple_step(1));
    CHECK(one.steps().size() == 1);
    CHECK(two.steps().size() == 1);
    const Refresh again(two);
    CHECK(one.steps().size() == 1);
    CHECK(two.steps().size() == 2);
  }
  CHECK(one.steps().size() == 2);
}

TEST_CASE("the delay at the end is that of the environment") {
  ::setenv("SMDEBUG_TRAINING_END_DELAY_REFRESH", "0.25", 1);
  Live live;
  live.builder.step(simple_step(0)).end();
  const Trial trial = live.script.open(live.dir.path());
  ::unsetenv("SMDEBUG_TRAINING_END_DELAY_REFRESH");
  StepFollower follower(trial);
  CHECK(follow(follower) == "0 ended");
  CHECK(live.script.elapsed() == 250ms);
}

TEST_CASE("a trial that is not there yet can be opened when it is") {
  const TempDir dir;
  WaitOutcome outcome = WaitOutcome::reached;
  const auto past = std::chrono::steady_clock::now();
  CHECK_THROWS_AS((void)Trial::open_when_there(dir / "none", {}, {.deadline = past}), ReadError);
  dir.write("file", "GGUF");
  CHECK_THROWS_AS((void)Trial::open_when_there(dir / "file", {}, {}), ReadError);
  dir.make_dir("empty/index");
  CHECK_FALSE(Trial::open_when_there(dir / "empty", {}, {.deadline = past}, &outcome));
  CHECK(outcome == WaitOutcome::timed_out);
  CHECK_FALSE(Trial::open_when_there(dir / "empty", {}, {.idle = 0ns}, &outcome));
  CHECK(outcome == WaitOutcome::idle);
  CHECK_FALSE(
      Trial::open_when_there(dir / "empty", {}, {.deadline = past, .idle = std::chrono::nanoseconds::max()}, &outcome));
  CHECK(outcome == WaitOutcome::timed_out);
  TrialBuilder(dir / "over").end();
  CHECK_THROWS_AS((void)Trial::open_when_there(dir / "over", {}, {}), MissingCollectionFiles);
  TrialBuilder(dir / "there").collections();
  CHECK(Trial::open_when_there(dir / "there", {}, {}, &outcome));
  CHECK(outcome == WaitOutcome::reached);
}

TEST_CASE("a log is read as it stands until it grows or is waited for") {
  const TempDir dir;
  constexpr std::string_view half = "step,loss\n0,1\n1,2";
  const auto opened = [&](const std::string& name) {
    return Trial::open(dir.write(name, half), {.as_it_stands = true, .until_it_grows = true});
  };
  const auto append = [&](std::string_view text) {
    std::ofstream(dir / "grows.csv", std::ios::app | std::ios::binary) << text;
  };
  const auto steps = [](const Trial& trial) { return trial.steps().size(); };
  const Trial grows = opened("grows.csv");
  for (int times = 0; times < 2; ++times) {
    CHECK(steps(grows) == 2);
    CHECK_FALSE(grows.ended());
    CHECK(grows.has_passed_step(GlobalStep(2)) == StepState::not_yet_available);
  }
  append("3\n2,4");
  CHECK(steps(grows) == 2);  // the last line has no end yet
  CHECK_FALSE(grows.ended());
  CHECK(grows.tensor("loss").value(GlobalStep(1)).item() == 23);
  append("\n");
  CHECK(steps(grows) == 3);

  const Trial awaited = opened("awaited.csv");
  CHECK(steps(awaited) == 2);
  StepFollower follower(awaited, {.wait = {.deadline = std::chrono::steady_clock::now()}});
  CHECK(follow(follower) == "0 timed out");
  CHECK(steps(awaited) == 1);
  CHECK_FALSE(awaited.ended());
}

TEST_CASE("a log that is read as it stands for good does not change") {
  const TempDir dir;
  const std::string path = dir.write("log.csv", "step,loss\n0,1\n1,2");
  Trial trial = Trial::open(path, {.as_it_stands = true});
  std::ofstream(path, std::ios::app | std::ios::binary) << "3\n2,4\n";
  const std::array later = {StepKey(GlobalStep(2))};
  for (int times = 0; times < 2; ++times) {
    CHECK(trial.steps() == std::vector<GlobalStep>{GlobalStep(0), GlobalStep(1)});
    CHECK(trial.tensor("loss").value(GlobalStep(1)).item() == 2);
    CHECK(trial.ended());
    CHECK_THROWS_AS((void)trial.wait_for_steps(later, {}), NoMoreData);
    trial.refresh();
  }
  StepFollower follower(trial, {});
  CHECK(follow(follower) == "0 1 ended");
}

TEST_CASE("a log that has only begun is waited for") {
  const TempDir dir;
  const auto refusal = [](const std::string& path, bool as_it_stands) {
    try {
      (void)Trial::open(path, {.as_it_stands = as_it_stands});
    } catch (const ReadError& error) {
      return std::string(error.tag());
    }
    return std::string();
  };
  const auto past = std::chrono::steady_clock::now();
  const std::string line(limits::row_bytes, 'a');
  const std::pair<std::string, std::string> begun[] = {{"empty.csv", ""},
                                                       {"blank.tsv", "\n"},
                                                       {"comment.csv", "# seed 1\n"},
                                                       {"half.csv", "st"},
                                                       {"half.tsv", "loss\tste"},
                                                       {"half.jsonl", "{\"st"},
                                                       {"array.json", "[\n{\"step\":\n1"},
                                                       {"none.json", "["},
                                                       {"empty.log", ""},
                                                       {"half.txt", "st"},
                                                       {"log", "{\"st"},
                                                       {"lost.csv", {"\0", 1}}};
  for (const auto& file : begun) {
    const std::string path = dir.write(file.first, file.second);
    CAPTURE(path);
    CHECK(refusal(path, false) == "NotYet");
    CHECK(refusal(path, true) == "NotFound");
    CHECK_FALSE(Trial::open_when_there(path, {}, {.deadline = past}));
    CHECK_FALSE(find_trial(path));
  }
  const std::pair<std::string, std::string> others[] = {
      {"prose.txt", "prose\n"},         {"prose.csv", "prose\n"},
      {"names.csv", "loss,accuracy\n"}, {"long.csv", line},
      {"page.json", "{\n\"a\":"},       {"list.json", "[1, 2"},
      {"row.jsonl", "{\"loss\": 2}"},   {"gz.csv", "\x1f\x8b"},
      {"cr.csv", "step,loss\r1,2\r"},   {"run/events.out.tfevents.1.h", ""}};
  for (const auto& file : others) {
    const std::string path = dir.write(file.first, file.second);
    CAPTURE(path);
    CHECK(refusal(path, false) == "NotFound");
    CHECK_THROWS_AS((void)Trial::open_when_there(path, {}, {}), ReadError);
  }
  for (const std::string_view name : {"empty.csv", "later.csv", "later.log"}) {  // only the first one exists
    const std::jthread writer([&] {
      std::this_thread::sleep_for(20ms);
      std::ofstream file(dir / name, std::ios::app);
      for (const std::string_view part : {"", "st", "ep,loss\n", "1,2\n"}) {
        file << part << std::flush;
        std::this_thread::sleep_for(10ms);
      }
    });
    const WaitOptions wait{.deadline = std::chrono::steady_clock::now() + 60s, .interval = 100ms};
    const auto trial = Trial::open_when_there(dir / name, {}, wait);
    REQUIRE(trial);
    CHECK(trial->wait_until([&] { return trial->steps().size() == 1; }, wait) == WaitOutcome::reached);
  }
}

TEST_CASE("a file that holds no lines of text is refused with what it is, alone and in its folder") {
  const TempDir dir;
  const std::string zeros(300, '\0');
  const auto gzip = "is compressed with gzip: uncompress it (gunzip)";
  const auto lost = "is all zeros: its content was lost; copy it again";
  const auto of_cr = "is not a metric log: its lines end in CR alone; convert it (mac2unix)";
  const auto pointer = "is a Git LFS pointer: git lfs pull fetches it";
  std::string long_cr = "step,loss";
  for (int i = 0; i < 20'000; ++i) {  // longer than what tells what a file is
    long_cr += "\r1,2";
  }
  struct Case {
    std::string_view file;
    std::string_view bytes;
    std::string_view right;
  };
  for (const Case& one :
       {Case{"1/metrics.csv", "\x1f\x8b\x08 packed", gzip},
        {"2/metrics.json", "\x1f\x8b\x08 packed", gzip},
        {"3/run-abc.wandb", "\x1f\x8b\x08 packed", gzip},
        {"4/metrics.csv", zeros, lost},
        {"5/scalars.json", zeros, lost},
        {"6/run-abc.wandb", zeros, lost},
        {"7/metrics.csv", "step,loss\r1,2\r2,nan\r", of_cr},
        {"8/metrics.jsonl", "{\"step\":1,\"loss\":2}\r{\"step\":2,\"loss\":1}", of_cr},
        {"12/metrics.csv", long_cr, of_cr},
        {"9/metrics.jsonl", "version https://git-lfs.github.com/spec/v1\n", pointer},
        {"10/results.csv", "<html>\n", "is a web page: the download failed; fetch it again"},
        {"11/metrics.csv", "\xFF\xFEs\0,\0l\0\n\0"sv, "is text in UTF-16: convert it to UTF-8 (iconv)"}}) {
    const std::filesystem::path file = dir.write(one.file, one.bytes);
    for (const std::string& path : {file.string(), file.parent_path().string()}) {
      CAPTURE(path);
      try {
        (void)Trial::open(path, {.as_it_stands = true});
        FAIL("it was opened");
      } catch (const ReadError& error) {
        CHECK(error.tag() == "NotFound");
        CHECK(error.problem.text == one.right);
        CHECK((one.right != of_cr || path != file || error.problem.file == path));  // once in the message
      }
    }
  }
  const auto steps = [](const std::string& folder) {
    return Trial::open(folder, {.as_it_stands = true}).steps().size();
  };
  dir.write("array/metrics.jsonl", "[{\"step\":1,\"loss\":2},\r{\"step\":2,\"loss\":1}]");
  CHECK(steps(dir / "array") == 2);
  dir.write("begun/metrics.csv", "step,loss\r");  // its LF is not written yet
  CHECK(steps(dir / "begun") == 0);
  Trial followed = Trial::open(dir / "begun", {.as_it_stands = false});
  dir.write("begun/metrics.csv", "step,loss\r1,2\r");
  CHECK_THROWS_AS(followed.refresh(), ReadError);
}

TEST_CASE("a log is read although a name in quotes has CR, or its header begins as a web page does") {
  const TempDir dir;
  std::string header = "step,\"a\rb\"";
  std::string row = "1,2";
  for (int i = 0; i < 20'000; ++i) {  // longer than what tells what a file is
    header += ",c" + std::to_string(i);
    row += ",3";
  }
  const std::pair<std::string, std::string> logs[] = {{"wide/metrics.csv", header + "\n" + row + "\n"},
                                                      {"short/metrics.csv", "step,\"a\rb\"\n1,2\n"},
                                                      {"tags/metrics.csv", "<loss>,step\n2,1\n"}};
  for (const auto& log : logs) {
    CAPTURE(log.first);
    const std::filesystem::path path = dir.write(log.first, log.second);
    for (const std::string& place : {path.string(), path.parent_path().string()}) {
      CHECK(Trial::open(place, {.as_it_stands = true}).steps() == std::vector{GlobalStep(1)});
    }
  }
  dir.write("begun/metrics.csv", "step,\"a\rb");
  CHECK(Trial::open(dir / "begun", {.as_it_stands = false}).steps().empty());
  dir.write("page/metrics.csv", "<html><style>a,b{color:#000}</style></html>");
  CHECK_THROWS_AS((void)Trial::open(dir / "page", {}), ReadError);
}

TEST_CASE("a log that begins with zeros is read behind them, and is damaged, whether it is followed or not") {
  const TempDir dir;
  const std::string zeros(600, '\0');
  struct Case {
    std::string_view file;
    std::string_view behind;
    std::size_t zeros = 600;
  };
  for (const Case& one : {Case{"1/metrics.csv", "5\nstep,loss\n7,2\n"},
                          {"2/metrics.jsonl", "{\"step\":5,\"loss\":1}\n{\"step\":7,\"loss\":2}\n"},
                          {"3/scalars.json", "\n{\"step\":7,\"loss\":2}\n"},
                          {"7/metrics.csv", "5\nstep,loss\n7,2\n", 70'000},
                          {"8/metrics.jsonl", "{\"step\":5,\"loss\":1}\n{\"step\":7,\"loss\":2}\n", 600'000},
                          {"9/scalars.json", "\n{\"step\":7,\"loss\":2}\n", 70'000}}) {
    const std::filesystem::path file = dir.write(one.file, std::string(one.zeros, '\0').append(one.behind));
    for (const std::string& path : {file.string(), file.parent_path().string()}) {
      for (const bool as_it_stands : {true, false}) {
        CAPTURE(path);
        CAPTURE(as_it_stands);
        const Trial trial = Trial::open(path, {.as_it_stands = as_it_stands});
        CHECK(trial.steps() == std::vector{GlobalStep(7)});
        CHECK(trial.tensor_names() == std::vector<std::string>{"loss"});
        const std::vector<Problem> problems = trial.problems();
        CHECK(
            std::ranges::any_of(problems, [](const Problem& problem) { return problem.kind == ProblemKind::damaged; }));
      }
    }
  }
  for (const bool as_it_stands : {true, false}) {  // a header that is lost, and what is no run file
    dir.write("4/metrics.csv", zeros + "5\n6,2\n7,2\n");
    CHECK_THROWS_AS((void)Trial::open(dir / "4", {.as_it_stands = as_it_stands}), ReadError);
    dir.write("5/run-abc.wandb", zeros + ":W&B");
    CHECK_THROWS_AS((void)Trial::open(dir / "5", {.as_it_stands = as_it_stands}), ReadError);
  }
  for (const std::string& begun : {zeros, zeros + "\n", zeros + "{\"step\":5,\"loss\":1}\n"}) {
    const std::filesystem::path file = dir.write("6/metrics.jsonl", begun);
    Trial trial = Trial::open(file.parent_path().string(), {.as_it_stands = false});
    CHECK(trial.steps().empty());
    dir.write("6/metrics.jsonl", zeros + "\n{\"step\":7,\"loss\":2}\n");
    trial.refresh();
    CHECK(trial.steps() == std::vector{GlobalStep(7)});
  }
}

TEST_CASE("more zeros before the rows of a log than a line may have are not called all of it") {
  const TempDir dir;
  for (const std::size_t zeros : {limits::row_bytes, limits::row_bytes + 1}) {
    CAPTURE(zeros);
    const std::filesystem::path file = dir.write("log.csv", std::string(zeros, '\0') + "\nstep,loss\n1,5\n");
    try {
      (void)Trial::open(file.string(), {.as_it_stands = true});
      FAIL("it was opened");
    } catch (const ReadError& error) {
      CHECK(error.tag() == "NotFound");
      CHECK(error.problem.text.find("the limit (row_bytes)") != std::string::npos);
    }
  }
}

TEST_CASE("zeros in a log that is followed are not there yet") {
  const TempDir dir;
  for (const std::string name : {"metrics.csv", "scalars.json", "run-abc.wandb"}) {
    CAPTURE(name);
    dir.write(name + ".d/" + name, std::string(300, '\0'));
    Trial trial = Trial::open(dir / (name + ".d"), {.as_it_stands = false});
    CHECK(trial.steps().empty());
    dir.write(name + ".d/" + name, name.ends_with("csv")    ? "step,loss\n1,2\n"sv
                                   : name.ends_with("json") ? "{\"step\":1,\"loss\":2}\n"sv
                                                            : ":W&B\xE1\xBE\0"
                                                              "=\x9C\xCE~!\0\x01\x12\x1F\n\x11\n\n_timestamp\x82\x01"
                                                              "\x02\x31\x30\n\n\n\x04loss\x82\x01\x01\x32"sv);
    trial.refresh();
    CHECK(trial.steps().size() == 1);
  }
  const std::string images = dir.write("images.csv", "\0\0\x08\x01\0\0\xEA\x60\5\0\4"sv);
  try {
    (void)Trial::open(images, {.as_it_stands = false});
    FAIL("a file of bytes that no log has is no log");
  } catch (const ReadError& error) {
    CHECK(error.problem.kind == ProblemKind::not_found);
  }
}

TEST_CASE("a folder whose log is refused is waited for, and why it is refused is said when time is up") {
  const TempDir dir;
  constexpr auto good = "batch,loss\n1,2\n"sv;
  struct Case {
    std::string folder;
    std::string file;
    std::string_view bytes;
    std::string_view later;
    std::string_view later_bytes;
  };
  for (const Case& one :
       {Case{"step", "metrics.csv", "step,loss\n1,2\n", "metrics.csv", good},
        {"header", "results.csv", "1,2,3\n4,5,6\n", "events.out.tfevents.1.h", ""},
        {"one-name", "progress.csv", "loss\n1\n", "metrics.csv", good},
        {"gzip", "metrics.jsonl", "\x1f\x8b\x08 packed", "metrics.jsonl", "{\"batch\":1,\"loss\":2}\n"},
        {"run", "run-a.wandb", "\x1f\x8b\x08 packed", "run-a.wandb", ":W&B\xE1\xBE\0"sv},
        {"cr", "metrics.csv", "batch,loss\r1,2\r", "metrics.csv", good},
        {"document", "metrics.json", "{\n\"a\": 1\n}\n", "metrics.csv", good}}) {
    CAPTURE(one.folder);
    dir.write(one.folder + "/" + one.file, one.bytes);
    const auto how_it_ends = [&](std::chrono::milliseconds time) {
      const WaitOptions wait{.deadline = std::chrono::steady_clock::now() + time, .interval = 20ms};
      try {
        const auto trial = Trial::open_when_there(dir / one.folder, {.step_name = "batch"}, wait);
        return std::string(trial ? "there" : "time is up");
      } catch (const ReadError& error) {
        return std::string(error.tag()) + " " + error.problem.file;
      }
    };
    CHECK(how_it_ends(50ms) == "NotFound " + one.file);
    dir.write("new", one.later_bytes);
    const std::jthread writer([&] {
      std::this_thread::sleep_for(20ms);
      std::filesystem::rename(dir / "new", dir / one.folder + "/" + std::string(one.later));
    });
    CHECK(how_it_ends(60s) == "there");
  }
}

TEST_CASE("what is kept back comes when a follower gives up, and at once to others") {
  constexpr std::string_view run =  // of W&B: losses at 10 and 20 seconds, and the CPU a second after each, 50 and 51
      ":W&B\xE1\xBE\0"
      "=\x9C\xCE~!\0\x01\x12\x1F\n\x11\n\n_timestamp\x82\x01\x02\x31\x30\n\n\n\x04loss\x82\x01\x01\x32"
      "\xE3\x42pQ\x12\0\x01:\x10\x12\x02\x08\x0B\x1A\n\n\x03\x63pu\x82\x01\x02\x35\x30"
      "\\\xE8\xA6\x9B!\0\x01\x12\x1F\n\x11\n\n_timestamp\x82\x01\x02\x32\x30\n\n\n\x04loss\x82\x01\x01\x31"
      "\x1F\xD8\x96h\x12\0\x01:\x10\x12\x02\x08\x15\x1A\n\n\x03\x63pu\x82\x01\x02\x35\x31"sv;
  const TempDir dir;
  const std::string path = dir.write("run-abc.wandb", run);
  const auto opened = [&] { return Trial::open(path, {.auto_refresh = false}); };
  const auto measured = [](const Trial& trial) { return trial.tensor("system/cpu").steps().size(); };
  const WaitOptions over{.deadline = std::chrono::steady_clock::now()};
  for (const bool polled : {false, true}) {
    const Trial followed = opened();
    StepFollower follower(followed, {.wait = over});
    for (const std::int64_t step : {0, 1, 1}) {
      CHECK(measured(followed) == 1);
      const FollowEvent event = polled ? follower.poll().value_or(FollowEvent()) : follower.next();
      CHECK(event.outcome == WaitOutcome::reached);
      CHECK(event.step == GlobalStep(step));
    }
    CHECK(followed.tensor("system/cpu").value(GlobalStep(1)).item() == 51);
    CHECK(follow(follower) == "timed out");
  }
  const Trial idle = opened();
  StepFollower follower(idle, {.wait = {.idle = 20ms}});
  CHECK(follow(follower) == "0 1 1 idle");
  const Trial awaited = opened();
  CHECK(awaited.wait_until([&] { return measured(awaited) == 2; }, over) == WaitOutcome::reached);
  Trial asked = opened();
  asked.refresh();
  CHECK(measured(asked) == 2);
}

}  // namespace smd::test
