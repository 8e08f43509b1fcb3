// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/trial_paths.hpp"

#include <doctest/doctest.h>

namespace layout = smd::detail::layout;

TEST_CASE("names of index files tell step and worker") {
  const auto plain = layout::parse_index_file_name("000000000010_worker_0.json");
  REQUIRE(plain);
  CHECK(plain->step == 10);
  CHECK(plain->worker_part == "worker_0");
  CHECK_FALSE(plain->csv);

  const auto device = layout::parse_index_file_name("000000000008__replica-0_task-0_device-GPU-1.json");
  REQUIRE(device);
  CHECK(device->worker_part == "_replica-0_task-0_device-GPU-1");

  // A writer's bug gives a negative step; beyond 12 digits nothing is cut.
  CHECK(layout::parse_index_file_name("-00000000001_worker_0.json")->step == -1);
  CHECK(layout::parse_index_file_name("1000000000000_algo-1.csv")->step == 1000000000000);
  CHECK(layout::parse_index_file_name("1000000000000_algo-1.csv")->csv);

  for (const char* name : {"notes.json", "000000000009.json", "000000000009_.json", "_worker_0.json", ".json", "",
                           "000000000010_worker_0.json.tmp", "000000000010_worker_0", "99999999999999999999_w.json"}) {
    CAPTURE(name);
    CHECK_FALSE(layout::parse_index_file_name(name));
  }
}

TEST_CASE("the one name that the grammar gives an index file is distinguished from others of the same step") {
  const auto is_leaf = [](const char* name) {
    return layout::is_index_leaf(name, *layout::parse_index_file_name(name));
  };
  for (const char* name : {"000000000010_worker_0.json", "000000000000_w.json", "-00000000001_worker_0.json",
                           "1000000000000_w_1.json", "-100000000000_w.json", "-1000000000000_w.json"}) {
    CAPTURE(name);
    CHECK(is_leaf(name));
  }
  for (const char* name : {"10_worker_0.json", "0000000000010_worker_0.json", "000000000010_worker_0.csv",
                           "-00000000000_w.json", "-000000000001_w.json", "-1_w.json"}) {
    CAPTURE(name);
    CHECK_FALSE(is_leaf(name));
  }
}

TEST_CASE("workers' names come back from file names") {
  // The table of docs/format.md.
  CHECK(layout::worker_name("_replica-0_task-0_device-GPU-1") == "/replica:0/task:0/device:GPU:1");
  CHECK(layout::worker_name("_job-worker_replica-0_task-1_device-GPU-0") ==
        "/job:worker/replica:0/task:1/device:GPU:0");
  CHECK(layout::worker_name("worker_0") == "worker_0");
  CHECK(layout::worker_name("algo-1") == "algo-1");
  CHECK(layout::worker_name("a__b") == "a__b");
}

TEST_CASE("paths are written as the reference writes them") {
  const auto index_leaf = [](std::int64_t step, std::string_view part) {
    std::string leaf;
    layout::append_index_leaf(leaf, step, part);
    return leaf;
  };
  CHECK(index_leaf(10, "worker_0") == "000000000010_worker_0.json");
  CHECK(index_leaf(-1, "worker_0") == "-00000000001_worker_0.json");
  CHECK(index_leaf(1000000000000, "w") == "1000000000000_w.json");
  CHECK(layout::event_path(10, "worker_0") == "events/000000000010/000000000010_worker_0.tfevents");
  const auto event = layout::parse_event_path("events/000000000010/000000000010_worker_0.tfevents");
  REQUIRE(event);
  CHECK(event->step == 10);
  CHECK(event->worker_part == "worker_0");
  CHECK_FALSE(layout::parse_event_path("elsewhere/000000000010_worker_0.tfevents"));
  CHECK_FALSE(layout::parse_event_path("events/x.tfevents"));
}
