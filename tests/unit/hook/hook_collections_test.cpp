// SPDX-License-Identifier: Apache-2.0
// The collections of a hook, read and added to before the first step.
#include <smd/hook.hpp>
#include <smd/trial.hpp>

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <array>

namespace smd {
namespace {

using test::TempDir;

constexpr std::array<float, 1> number = {1};

TensorView one() { return {Dtype::float32, {}, std::as_bytes(std::span(number))}; }

using Texts = std::vector<std::string>;

TEST_CASE("a hook's collections can be looked at") {
  const TempDir folder;
  const Hook hook({.out_dir = folder / "run", .save_config = SaveConfigMode{.save_interval = 7}, .save_all = true});
  const auto all = hook.collections();
  REQUIRE(all.contains("weights"));
  CHECK(all.at("weights").include_regex == Texts{"^(?!gradient).*weight"});
  CHECK(all.at("weights").save_config.at(Mode::eval).save_interval == 7);
  CHECK(hook.get_collection("weights") == all.at("weights"));
  CHECK(hook.get_collection("mine") == Collection{.name = "mine"});
  CHECK_FALSE(hook.collections().contains("mine"));
}

TEST_CASE("an added collection is saved, and written to the trial") {
  const TempDir folder;
  Hook hook({.out_dir = folder / "run",
             .save_config = SaveConfigMode{.save_interval = 1},
             .include_collections = {"biases"}});
  CHECK_FALSE(hook.wants("relu_output"));
  Collection mine = hook.get_collection("mine");
  mine.include_regex = {"relu"};
  mine.reduction_config = ReductionConfig{.reductions = {"max"}};
  hook.add_collection(mine);
  CHECK(hook.wants("relu_output"));
  CHECK(hook.save_tensor("relu_output", one()));
  hook.close();
  const Trial trial = Trial::open(folder / "run");
  REQUIRE(trial.collection("mine"));
  CHECK(trial.collection("mine")->include_regex == Texts{"relu"});
  CHECK(trial.collection("mine")->tensor_names == Texts{"relu_output"});
  CHECK(trial.tensor("relu_output").reduction_value(GlobalStep(0), "max").dtype() == Dtype::float64);
}

TEST_CASE("numbers that are losses by name belong to losses, if no collection has them and none was configured") {
  const TempDir folder;
  constexpr std::array<float, 2> pair = {1, 2};
  const Shape two = {2};
  const SaveConfig every = SaveConfigMode{.save_interval = 1};
  Hook hook({.out_dir = folder / "run", .save_config = every});
  for (const char* const name : {"lr", "train/loss", "loss_scale"}) {
    hook.save_tensor(name, one());
  }
  hook.save_tensor("losses", {Dtype::float32, two, std::as_bytes(std::span(pair))});
  hook.save_tensor("own_loss", one(), {"mine"});
  hook.save_scalar("nll", 1);
  hook.next_step();
  hook.save_tensor("val_loss", one());
  hook.close();
  CHECK(Trial::open(folder / "run").collection("losses")->tensor_names ==
        Texts{"scalar/nll", "train/loss", "val_loss"});
  Hook configured({.out_dir = folder / "all", .save_config = every, .save_all = true});
  configured.save_tensor("loss", one());
  configured.save_scalar("loss", 1);  // is saved whatever the configuration says
  configured.close();
  CHECK(Trial::open(folder / "all").collection("losses")->tensor_names == Texts{"scalar/loss"});
}

TEST_CASE("a collection that was changed takes the place of the old one") {
  const TempDir folder;
  Hook hook({.out_dir = folder / "run",
             .save_config = SaveConfigMode{.save_interval = 1},
             .include_collections = {"losses"}});
  CHECK_FALSE(hook.wants("train_error"));
  Collection losses = hook.get_collection("losses");
  losses.include_regex.emplace_back("error$");
  losses.save_config[Mode::eval].save_steps = {3};
  hook.add_collection(losses);
  CHECK(hook.wants("train_error"));
  CHECK(hook.get_collection("losses").include_regex == Texts{"[Ll]oss_(?!input).*output", "error$"});
  losses.include_regex = {"nothing else"};
  hook.add_collection(losses);
  CHECK_FALSE(hook.wants("train_error"));
}

TEST_CASE("a hook without a configuration saves what is added, not everything") {
  const TempDir folder;
  Hook hook({.out_dir = folder / "run"});
  CHECK(hook.wants("anything"));
  hook.add_collection({.name = "mine", .include_regex = {"^a$"}});
  CHECK_FALSE(hook.wants("anything"));
  CHECK(hook.wants("a"));
  CHECK(hook.wants("Loss_output_0"));  // as always
}

TEST_CASE("a collection without members is refused when the first tensor is offered: until then it may be filled") {
  const TempDir folder;
  for (const bool by_name : {false, true}) {
    HookConfig config{.out_dir = folder / (by_name ? "named" : "configured"),
                      .save_config = SaveConfigMode{.save_interval = 1},
                      .end_marker = false};
    if (by_name) {
      config.include_collections = {"tree"};
    } else {
      config.collections = {{.name = "tree"}};
    }
    Hook hook(config);
    CHECK_THROWS_WITH_AS(hook.save_tensor("trees/Node", one()),
                         "collection 'tree' is not built in and has neither patterns (include_regex) nor names of "
                         "tensors; did you mean 'trees'?",
                         InvalidCollectionConfiguration);
    Hook filled(config);
    filled.add_collection({.name = "tree", .include_regex = {"^trees/"}});
    CHECK(filled.wants("trees/Node"));
    Hook told(config);
    CHECK(told.wants("x", {"tree"}));  // the program says what it has
  }
}

TEST_CASE("all is all, also with a pattern of its own") {
  const TempDir folder;
  for (const Texts& patterns : {Texts{}, Texts{"relu"}}) {
    const Hook hook(
        {.out_dir = folder / "run", .collections = {{.name = "all", .include_regex = patterns}}, .end_marker = false});
    CHECK(hook.get_collection("all").include_regex.back() == ".*");
  }
  Hook included({.out_dir = folder / "run", .include_collections = {"all"}, .end_marker = false});
  CHECK(included.wants("anything"));
  Hook added({.out_dir = folder / "run", .include_collections = {"losses"}, .end_marker = false});
  CHECK_FALSE(added.wants("anything"));
  added.add_collection({.name = "all"});
  CHECK(added.wants("anything"));
}

TEST_CASE("a built-in collection keeps its patterns when another is added, whatever the framework") {
  const TempDir folder;
  for (const Framework framework : {Framework::pytorch, Framework::xgboost}) {
    Hook hook({.out_dir = folder / "run",
               .framework = framework,
               .collections = {{.name = "predictions", .include_regex = {"500"}}},
               .end_marker = false});
    CHECK(hook.wants("predictions"));
    CHECK(hook.wants("layer500"));
    CHECK_FALSE(hook.wants("labels"));
  }
}

TEST_CASE("a name that a pattern matches is listed when something else is, or at the end") {
  const TempDir folder;
  Hook hook({.out_dir = folder / "run", .save_config = SaveConfigMode{.save_interval = 1}});
  const auto listed = [&] { return Trial::open(folder / "run").collection("all").value().tensor_names; };
  hook.save_tensor("a", one());
  hook.flush();
  hook.save_tensor("b", one());
  hook.flush();
  CHECK(listed() == Texts{"a"});
  CHECK(Trial::open(folder / "run").tensor_names({.collections = {"all"}}) == Texts{"a", "b"});
  hook.save_tensor("c", one(), {"mine"});
  hook.flush();
  CHECK(listed() == Texts{"a", "b", "c"});
  CHECK(Trial::open(folder / "run").collection("mine").value().tensor_names == Texts{"c"});
  hook.save_tensor("d", one());
  hook.close();
  CHECK(listed() == Texts{"a", "b", "c", "d"});
}

TEST_CASE("what cannot be added changes nothing") {
  const TempDir folder;
  Hook hook({.out_dir = folder / "run", .save_config = SaveConfigMode{.save_interval = 1}, .save_all = true});
  const auto before = hook.collections();
  CHECK_THROWS_AS(hook.add_collection({.name = "mine"}), InvalidArgument);
  CHECK_THROWS_AS(hook.add_collection({.name = "", .include_regex = {"a"}}), InvalidArgument);
  CHECK_THROWS_AS(hook.add_collection({.name = "mine", .include_regex = {"("}}), InvalidArgument);
  CHECK_THROWS_AS(hook.add_collection({.name = "mine", .tensor_names = {"\xff"}}), InvalidArgument);
  CHECK_THROWS_AS(hook.add_collection({.name = "weights", .reduction_config = ReductionConfig{}}), InvalidArgument);
  CHECK(hook.collections() == before);
  hook.save_tensor("a", one());
  CHECK_THROWS_WITH_AS(hook.add_collection({.name = "mine", .include_regex = {"a"}}),
                       "collection 'mine' cannot be added any more: tensors were saved by the collections as they were",
                       InvalidArgument);
}

}  // namespace
}  // namespace smd
