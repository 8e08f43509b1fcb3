// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/event_files.hpp"

#include <doctest/doctest.h>

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
