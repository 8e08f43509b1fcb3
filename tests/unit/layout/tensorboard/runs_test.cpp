// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/event_files.hpp"

#include <doctest/doctest.h>

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
