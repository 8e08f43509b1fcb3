// SPDX-License-Identifier: Apache-2.0
#include "layout/name_collections.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace smd::detail::layout;

namespace {

/// The collections that a tensor with such values is in, separated by blanks.
std::string collections_of(const std::string& name, ValueKind kind) {
  const std::vector<NamedValues> one{{name, kind}};
  const auto info = add_to_collections(nullptr, one);
  CHECK(info->found);
  std::string names;
  for (const auto& [collection, members] : *info->collections) {
    CHECK(members.name == collection);
    if (std::find(members.tensor_names.begin(), members.tensor_names.end(), name) != members.tensor_names.end()) {
      names += (names.empty() ? "" : " ") + collection;
    }
  }
  return names;
}

}  // namespace

TEST_CASE("numbers are losses by their names, else scalars") {
  for (const char* name : {"loss", "train/loss", "val_loss", "Loss/train", "NLL", "losses", "myLoss",
                           "lm loss validation", "loss_1", "train/epoch_loss", "weighted_loss"}) {
    CHECK(collections_of(name, ValueKind::number) == "all losses");
  }
  for (const char* name : {"loss scale", "loss_weight", "loss/lambda", "lm loss vs samples", "lossy", "gloss_x/norm",
                           "loss_scaler", "accuracy", "loss.time", "weight"}) {
    CHECK(collections_of(name, ValueKind::number) == "all scalars");
  }
}

TEST_CASE("other values by whole words of their names and by kind") {
  CHECK(collections_of("fc1.weight", ValueKind::histogram) == "all histograms weights");
  CHECK(collections_of("enc/kernel", ValueKind::histogram) == "all histograms weights");
  CHECK(collections_of("tokenEmbedding", ValueKind::tensor) == "all weights");
  CHECK(collections_of("fc1.bias", ValueKind::histogram) == "all biases histograms");
  CHECK(collections_of("fc1.weight.grad", ValueKind::histogram) == "all gradients histograms");
  CHECK(collections_of("gradients/bias", ValueKind::tensor) == "all gradients");
  CHECK(collections_of("weightless", ValueKind::histogram) == "all histograms");
  CHECK(collections_of("loss", ValueKind::histogram) == "all histograms");
  CHECK(collections_of("grid", ValueKind::image) == "all images");
  CHECK(collections_of("clip", ValueKind::audio) == "all audio");
  CHECK(collections_of("note", ValueKind::text) == "all text");
  CHECK(collections_of("pr", ValueKind::tensor) == "all");
}

TEST_CASE("collections grow, and stay as they are if nothing is new") {
  const auto empty = add_to_collections(nullptr, {});
  CHECK(empty->collections->size() == 2);
  CHECK(empty->collections->at("losses").tensor_names.empty());
  CHECK(empty->collections->at("all").tensor_names.empty());
  CHECK(empty->defines("images"));
  CHECK(empty->defines("losses"));
  CHECK_FALSE(empty->defines("image"));
  CHECK(add_to_collections(empty, {}) == empty);
  const std::vector<NamedValues> first{{"b", ValueKind::number}, {"a", ValueKind::number}};
  const auto two = add_to_collections(empty, first);
  const std::vector<NamedValues> second{
      {"a", ValueKind::histogram}, {"aa", ValueKind::number}, {"b", ValueKind::number}};
  const auto three = add_to_collections(two, second);
  CHECK(two->collections->at("scalars").tensor_names == std::vector<std::string>{"a", "b"});
  CHECK(three->collections->at("scalars").tensor_names == std::vector<std::string>{"a", "aa", "b"});
  CHECK(three->collections->at("histograms").tensor_names == std::vector<std::string>{"a"});
  CHECK(three->collections->at("all").tensor_names == std::vector<std::string>{"a", "aa", "b"});
}

TEST_CASE("a model's own tensors are weights, biases or neither, and what is beside it is in all only") {
  CHECK(collections_of("fc.weight", ValueKind::parameter) == "all weights");
  CHECK(collections_of("camelCaseWeight", ValueKind::parameter) == "all weights");
  CHECK(collections_of("fc.bias", ValueKind::parameter) == "all biases");
  CHECK(collections_of("fc.weight.grad", ValueKind::parameter) == "all");
  CHECK(collections_of("layers.0.q_proj.lora_a", ValueKind::parameter) == "all weights");
  CHECK(collections_of("lora_unet_down.alpha", ValueKind::parameter) == "all");
  CHECK(collections_of("ema/fc.weight", ValueKind::further) == "all");
  for (const char* name :
       {"optim.layers.0.weight.exp_avg", "optimizer.state.layers.0.weight", "chained_0.optimizer.state.fc.weight",
        "app.optim.state.fc.bias", "optimizer_0/fc.weight", "zero_pp_rank_0_mp_rank_00_optim_states/fc.weight",
        "opt.state.fc.weight.exp_avg_sq", "sgd.fc.weight.momentum_buffer"}) {
    CAPTURE(name);
    CHECK(collections_of(name, ValueKind::parameter) == "all");
  }
  for (const char* name :
       {"optimal.weight", "ema.model.0.conv.weight", "ema_gate.weight", "expert.avg.weight", "momentum.weight"}) {
    CAPTURE(name);
    CHECK(collections_of(name, ValueKind::parameter) == "all weights");
  }
  CHECK(collections_of("optimizer/fc.weight", ValueKind::histogram) == "all histograms weights");
}
