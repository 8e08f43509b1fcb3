// SPDX-License-Identifier: Apache-2.0
#include "follow/followed_trials.hpp"

#include "support/temp_dir.hpp"

#include <smd/trial.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

namespace smd::tool {

TEST_CASE("side by side: each once, at once; a single one in the caller's thread") {
  Interruption interruption;
  std::mutex mutex;
  std::condition_variable came;
  std::set<std::size_t> here;
  side_by_side(4, interruption, [&](std::size_t i) {
    std::unique_lock lock(mutex);
    here.insert(i);
    came.notify_all();
    came.wait(lock, [&] { return here.size() == 4; });  // none could wait for another if they came one by one
  });
  CHECK(here == std::set<std::size_t>{0, 1, 2, 3});
  side_by_side(0, interruption, [](std::size_t) { FAIL("there is none"); });
  std::thread::id where;
  side_by_side(1, interruption, [&](std::size_t) { where = std::this_thread::get_id(); });
  CHECK(where == std::this_thread::get_id());
  CHECK_FALSE(interruption.token().stop_requested());
}

TEST_CASE("side by side: the first exception stops the others, and is thrown when they are done") {
  Interruption interruption;
  std::atomic<int> ended = 0;
  const auto visit = [&](std::size_t i) {
    if (i == 1) {
      throw std::runtime_error("bad pattern");
    }
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait(lock, interruption.token(), [] { return false; });
    ++ended;
  };
  CHECK_THROWS_WITH_AS(side_by_side(3, interruption, visit), "bad pattern", std::runtime_error);
  CHECK(ended == 2);
}

TEST_CASE("a further row at the newest step of a log is new data") {
  const test::TempDir dir;
  dir.write("metrics.csv", "epoch,loss\n0,1\n");
  Trial trial = Trial::open(dir.path(), {.as_it_stands = false});
  Diagnostics messages("test");
  FollowingOptions following;
  following.interval = std::chrono::milliseconds(20);
  following.reader = Interruption::Reader::ignored;
  FollowedTrials trials(following, {}, messages);
  int quiet_ticks = 0;
  bool news_after_row = false;
  const auto tick = [&](const FollowTick& what) {
    news_after_row = quiet_ticks > 0 && what.new_data;
    if (!what.new_data && ++quiet_ticks == 1) {
      std::ofstream(dir / "metrics.csv", std::ios::app) << "0,2\n";
    }
    return news_after_row || quiet_ticks == 10;
  };
  trials.in_ticks(trial, "log", {}, tick, [] {});
  CHECK(news_after_row);
}

TEST_CASE("what a writer may mend is reported when the following is over") {
  const test::TempDir dir;
  const std::string version("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\t\0\0\0\0\0\0\xf0?\x1a\rbrain.Event:2\x86\xbf\x57\x7a",
                            40);
  dir.write("events.out.tfevents.1700000000.host.1.0", version + version.substr(0, 15));
  const Trial trial = Trial::open(dir.path(), {.as_it_stands = true});
  Diagnostics messages("test");
  report_problems(trial, false, messages);
  CHECK(messages.status() == ExitStatus::yes);
  report_problems(trial, true, messages);
  CHECK(messages.status() == ExitStatus::damaged);
}

}  // namespace smd::tool
