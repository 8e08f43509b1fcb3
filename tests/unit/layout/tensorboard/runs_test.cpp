// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/runs.hpp"

#include <doctest/doctest.h>

using smd::detail::layout::ends_in_side;
using smd::detail::layout::trials_of_runs;
using Paths = std::vector<std::string>;

TEST_CASE("folders that are sides") {
  for (const char* name : {"train", "validation", "loss_val", "a/b/loss_train", "test", "dev", "myTest", "x.eval"}) {
    CHECK(ends_in_side(name));
  }
  for (const char* name : {"exp1", "std_dev", "train_1", "contest", "train/exp", ""}) {
    CHECK_FALSE(ends_in_side(name));
  }
}

TEST_CASE("a folder with event files is one trial, whatever lies below") {
  CHECK(trials_of_runs(Paths{"", "1700000003.25", "a/b"}) == Paths{""});
  CHECK(trials_of_runs(Paths{}).empty());
}

TEST_CASE("sides of one parent are one trial") {
  CHECK(trials_of_runs(Paths{"train", "validation"}) == Paths{""});
  CHECK(trials_of_runs(Paths{"fit/train", "fit/validation"}) == Paths{""});
  CHECK(trials_of_runs(Paths{"train"}) == Paths{""});
  CHECK(trials_of_runs(Paths{"a/train", "b/train"}) == Paths{"a", "b"});
  CHECK(trials_of_runs(Paths{"train", "validation", "exp"}) == Paths{"exp", "train", "validation"});
  CHECK(trials_of_runs(Paths{"train", "train/sub/val"}) == Paths{"train"});
}

TEST_CASE("several runs are several trials") {
  CHECK(trials_of_runs(Paths{"deep/run_a", "deep/run_b", "exp1", "exp1/sub", "keras/train", "keras/validation"}) ==
        Paths{"deep/run_a", "deep/run_b", "exp1", "keras"});
  CHECK(trials_of_runs(Paths{"exp1"}) == Paths{"exp1"});
  CHECK(trials_of_runs(Paths{"a", "a-b", "a/c"}) == Paths{"a", "a-b"});
}

TEST_CASE("a folder with trials of other layouts is no trial") {
  CHECK(trials_of_runs(Paths{"train", "validation"}, Paths{"job"}) == Paths{"train", "validation"});
  CHECK(trials_of_runs(Paths{"k/train", "k/val"}, Paths{"job/debug-output"}) == Paths{"k"});
  CHECK(trials_of_runs(Paths{"", "train"}, Paths{"job"}) == Paths{""});
}
