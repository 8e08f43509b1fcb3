// SPDX-License-Identifier: Apache-2.0
// Configurations written as JSON, and collections joined.
#include <smd/hook_config.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace smd {
namespace {

TEST_CASE("a configuration is written as SageMaker takes it: values as text, defaults left out") {
  HookConfig config;
  // In JSON a configuration that selects nothing means less.
  CHECK(config.to_json() == "{\n  \"HookParameters\": {\n    \"save_all\": \"true\"\n  }\n}");
  config.out_dir = "s3://b/p";
  config.save_config = SaveConfigMode{.save_interval = 100};
  config.add_collection({.name = "gradients", .reduction_config = ReductionConfig{.reductions = {"abs_mean", "l2"}}});
  config.add_collection({.name = "losses"});
  config.add_collection({.name = "mine",
                         .include_regex = {"a", "b"},
                         .save_config = {{Mode::train, {.save_interval = 10, .save_steps = {1, 2}}},
                                         {Mode::eval, {.save_interval = 100, .end_step = 0}}}});
  CHECK(config.to_json() == R"({
  "S3OutputPath": "s3://b/p",
  "HookParameters": {
    "save_interval": "100"
  },
  "CollectionConfigurations": [
    {
      "CollectionName": "gradients",
      "CollectionParameters": {
        "reductions": "abs_mean,l2_norm"
      }
    },
    {
      "CollectionName": "losses"
    },
    {
      "CollectionName": "mine",
      "CollectionParameters": {
        "include_regex": "a,b",
        "train.save_interval": "10",
        "train.save_steps": "1,2",
        "eval.end_step": "0"
      }
    }
  ]
})");
}

TEST_CASE("what is written is read back") {
  HookConfig config = HookConfig::parse(R"({"LocalPath": "/tmp/trial",
    "HookParameters": {"save_all": true, "include_regex": ["a{1,3}", "b"], "include_collections": "biases",
      "reductions": "min,abs_max", "save_shape": true, "save_interval": 7, "eval.save_steps": [4, 5],
      "predict.start_step": 3, "global.end_step": 9, "include_workers": "one", "dry_run": true,
      "save_histogram": false, "tensorboard_dir": "/board", "export_tensorboard": true, "worker": "w", "num_workers": 3},
    "CollectionConfigurations": [
      {"CollectionName": "gradients"},
      {"CollectionName": "weights", "CollectionParameters": {"save_raw_tensor": true, "save_histogram": true}},
      {"CollectionName": "mine", "CollectionParameters": {"include_regex": "x,y", "tensor_names": "t",
        "eval.save_steps": "", "train.save_interval": 3, "reductions": "l1"}}]})");
  const HookConfig again = HookConfig::parse(config.to_json());
  CHECK(again.out_dir == config.out_dir);
  CHECK(again.save_all);
  CHECK(again.include_regex == config.include_regex);
  CHECK(again.include_collections == config.include_collections);
  CHECK(again.reduction_config == config.reduction_config);
  CHECK(again.save_config == config.save_config);
  CHECK(again.include_workers == IncludeWorkers::one);
  CHECK(again.dry_run);
  CHECK(again.save_histogram == false);
  CHECK(again.tensorboard_dir == "/board");
  CHECK(again.export_tensorboard);
  CHECK(again.worker == "w");
  CHECK(again.num_workers == 3);
  REQUIRE(again.collections.size() == config.collections.size());
  for (std::size_t i = 0; i < again.collections.size(); ++i) {
    CAPTURE(i);
    CHECK(again.collections[i] == config.collections[i]);
  }
  config.enabled = false;
  CHECK_FALSE(HookConfig::parse(config.to_json()).enabled);
}

TEST_CASE("a collection without an end and without listed steps is written so that the hook's are not taken") {
  HookConfig config;
  config.save_config = SaveConfigMode{.save_interval = 1, .save_steps = {7}, .end_step = 3};
  config.add_collection({.name = "c", .include_regex = {"a"}, .save_config = {{Mode::train, {.save_interval = 2}}}});
  const HookConfig again = HookConfig::parse(config.to_json());
  CHECK(again.save_config == config.save_config);
  CHECK(again.collections.at(0).save_config.at(Mode::train) == SaveConfigMode{.save_interval = 2});
}

TEST_CASE("a collection added twice saves what either saves") {
  HookConfig config;
  config.save_config = SaveConfigMode{.save_interval = 6};
  const auto add = [&](CollectionConfig more) {
    more.name = "c";
    config.add_collection(std::move(more));
    CHECK(config.collections.size() == 1);
    return config.collections.front();
  };
  add({.include_regex = {"a"}, .reduction_config = ReductionConfig{.reductions = {"min"}}});
  const Collection two = add({.tensor_names = {"t"},
                              .include_regex = {"b", "a"},
                              .reduction_config = ReductionConfig{.save_shape = true, .reductions = {"max", "min"}},
                              .save_config = {{Mode::train, {.save_interval = 4, .start_step = 8, .end_step = 20}}}});
  CHECK(two.include_regex == std::vector<std::string>{"a", "b"});
  CHECK(two.tensor_names == std::vector<std::string>{"t"});
  CHECK(two.reduction_config == ReductionConfig{.save_shape = true, .reductions = {"min", "max"}});
  // The first was saved at the hook's steps: each sixth. Both: 2 divides 6 and 4.
  CHECK(two.save_config.at(Mode::train) == SaveConfigMode{.save_interval = 2});
  CHECK_FALSE(two.save_config.contains(Mode::eval));
  // Not set means the tensor itself.
  CHECK(add({}).reduction_config ==
        ReductionConfig{.save_raw_tensor = true, .save_shape = true, .reductions = {"min", "max"}});
}

TEST_CASE("a collection that is not saved in a mode adds only its own steps") {
  HookConfig config;
  config.add_collection({.name = "c", .include_regex = {"a"}, .save_config = {{Mode::eval, {.end_step = 0}}}});
  CHECK(config.collections[0].save_config.at(Mode::eval).end_step == std::int64_t{0});
  config.add_collection({.name = "c", .save_config = {{Mode::eval, {.save_interval = 9, .save_steps = {5}}}}});
  CHECK(config.collections[0].save_config.at(Mode::eval) == SaveConfigMode{.save_interval = 9, .save_steps = {5}});
}

}  // namespace
}  // namespace smd
