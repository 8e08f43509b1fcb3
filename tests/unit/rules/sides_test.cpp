// SPDX-License-Identifier: Apache-2.0
#include "framework/sides.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace smd::test {
namespace {

using detail::rules::ScalarName;
using detail::rules::Side;
using detail::rules::Sides;
using Names = std::vector<std::string>;

Sides sides_of(const Names& tags) {
  std::vector<ScalarName> names;
  for (const std::string& tag : tags) {
    names.push_back({tag});
  }
  return Sides(names);
}

/// What a name of validation is compared with; empty: nothing.
std::string partner(const Sides& sides, const std::string& validation) {
  const auto all = sides.partners(validation);
  return all.empty() ? std::string() : std::string(all.front());
}

TEST_CASE("names as frameworks write them pair") {
  const auto pairs = [](const std::string& training, const std::string& validation, Names others = {}) {
    others.insert(others.end(), {training, validation});
    const Sides sides = sides_of(others);
    CHECK(sides.of(training) == Side::train);
    CHECK(sides.of(validation) == Side::eval);
    CHECK(partner(sides, validation) == training);
  };
  pairs("train/loss", "eval/loss", {"train/train_loss", "train/epoch", "eval/runtime"});  // Hugging Face
  pairs("train_loss_epoch", "val_loss", {"train_loss_step", "epoch"});                    // Lightning
  pairs("train/epoch_loss", "validation/epoch_loss", {"train/batch_loss"});               // Keras
  pairs("Loss/train", "Loss/val");
  pairs("loss_train/loss", "loss_val/loss");                                                 // add_scalars
  pairs("lm loss", "lm loss validation", {"lm loss validation ppl", "lm loss vs samples"});  // Megatron
  pairs("train-rmse", "validation-rmse", {"test-rmse"});                                     // XGBoost
  pairs("trainLoss", "valLoss");
  pairs("training_loss", "holdout_loss");
  pairs("trn.nll", "evaluation.nll");
}

TEST_CASE("dev says a side as the first word only") {
  const Sides sides = sides_of({"dev/loss", "loss", "std_dev", "std"});
  CHECK(sides.of("dev/loss") == Side::eval);
  CHECK(sides.of("loss") == Side::train);
  CHECK(sides.of("std_dev") == Side::none);
  CHECK(sides.of("std") == Side::none);
}

TEST_CASE("a test is validation where nothing else is, by key") {
  const Sides sides = sides_of({"train/loss", "val/loss", "test/loss", "train/acc", "test/acc", "test_acc"});
  CHECK(sides.of("test/loss") == Side::none);
  CHECK(sides.of("test/acc") == Side::eval);
  CHECK(sides.of("test_acc") == Side::eval);  // of two tests neither is before the other
  CHECK(partner(sides, "test/acc") == "train/acc");
  CHECK(partner(sides, "test/loss").empty());
}

TEST_CASE("a name without a side is training where validation has its key") {
  const Sides sides = sides_of({"loss", "val_loss", "accuracy", "lr"});
  CHECK(sides.of("loss") == Side::train);
  CHECK(sides.of("accuracy") == Side::none);
  CHECK(sides.of("unknown") == Side::none);
  CHECK(sides.names(Side::train) == std::vector<std::string_view>{"loss"});
}

TEST_CASE("of several training names: a side word, then fewest words, then the first by name") {
  const Names all = {"loss", "train/train_loss", "train_loss", "train-loss", "val_loss"};
  CHECK(sides_of(all).partners("val_loss") ==
        std::vector<std::string_view>{"train-loss", "train_loss", "train/train_loss", "loss"});
}

TEST_CASE("a last word step is dropped unless a name has epoch in its place") {
  const Sides both = sides_of({"train_loss_step", "train_loss_epoch", "val_loss"});
  CHECK(both.partners("val_loss") == std::vector<std::string_view>{"train_loss_epoch"});
  const Sides alone = sides_of({"train_loss_step", "val_loss"});
  CHECK(partner(alone, "val_loss") == "train_loss_step");
  // In its place: in the same words, however they are separated.
  CHECK(partner(sides_of({"train/loss.step", "train_loss_epoch", "val_loss"}), "val_loss") == "train_loss_epoch");
  // Of another name's epoch nothing follows.
  CHECK(partner(sides_of({"train_loss_step", "train_acc_epoch", "val_loss"}), "val_loss") == "train_loss_step");
  CHECK(partner(sides_of({"loss_epoch/train", "loss/val"}), "loss/val") == "loss_epoch/train");
}

TEST_CASE("a run's last folder decides before the tag") {
  const std::vector<ScalarName> names = {{"exp/train/val_like", 9},     {"exp/val/train_like", 7},
                                         {"eval_study/train/loss", 16}, {"eval_study/dev/loss", 14},
                                         {"train/a/loss", 7},           {"val/a/loss", 5}};
  const Sides sides{names};
  CHECK(sides.of("exp/train/val_like") == Side::train);
  CHECK(sides.of("exp/val/train_like") == Side::eval);
  CHECK(sides.of("eval_study/train/loss") == Side::train);
  CHECK(sides.of("eval_study/dev/loss") == Side::eval);
  CHECK(partner(sides, "eval_study/dev/loss") == "eval_study/train/loss");
  CHECK(partner(sides, "val/a/loss") == "train/a/loss");  // the folders above, where nothing else says it
}

}  // namespace
}  // namespace smd::test
