// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoint_names.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace smd::detail::layout;

namespace {

/// `step 500`, `epoch 3` or nothing.
std::string told_by(std::string_view name) {
  const auto told = step_of_name(name);
  return told ? (told->unit == StepUnit::step ? "step " : "epoch ") + std::to_string(told->number) : "";
}

}  // namespace

TEST_CASE("checkpoint names: steps") {
  for (const char* const name : {"checkpoint-500",
                                 "global_step500",
                                 "step_500",
                                 "step-500",
                                 "iter_0000500",
                                 "500",
                                 "000500",
                                 "lora-step00000500",
                                 "step=500",
                                 "epoch=3-step=500",
                                 "step=500-loss=1.5",
                                 "run_checkpoint-500",
                                 "run.global_step500",
                                 "checkpoint_500",
                                 "global_step_500",
                                 "step500",
                                 "iter-500",
                                 "model_500",
                                 "ckpt_500",
                                 "ckpt-500",
                                 "my_lora_000000500",
                                 "500_adapters",
                                 "0000500_adapters",
                                 "checkpoint-500-v1",
                                 "epoch=3-step=500-v12"}) {
    CHECK_MESSAGE(told_by(name) == "step 500", name);
  }
}

TEST_CASE("checkpoint names: epochs") {
  for (const char* const name :
       {"epoch-3", "epoch_3", "epoch=3", "style-000003", "run-epoch-3", "epoch_3-v2", "epoch3"}) {
    CHECK_MESSAGE(told_by(name) == "epoch 3", name);
  }
}

TEST_CASE("checkpoint names: neither") {
  for (const char* const name :
       {"model", "step-notes", "mystep_5", "checkpoint", "checkpoint500", "v2", "llama-7b", "style-03", "-000003",
        "checkpoint-99999999999999999999", "step=", "model-00001", "xstep=5", "x500_adapters", ""}) {
    CHECK_MESSAGE(told_by(name).empty(), name);
  }
}

TEST_CASE("checkpoint names: a date is no number") {
  for (const char* const name : {"20250827", "qwen-20250827-134315", "v0-20240101-101530", "run_20250827_1343",
                                 "20250827T134315", "checkpoint-20250827", "20250827-134315-v2"}) {
    CHECK_MESSAGE(told_by(name).empty(), name);
  }
  // No such month, day, hour or minute; another length.
  CHECK(told_by("checkpoint-20001300") == "step 20001300");
  CHECK(told_by("20250832") == "step 20250832");
  CHECK(told_by("run-20250827-246100") == "epoch 246100");
  CHECK(told_by("checkpoint-120250827") == "step 120250827");
  CHECK(told_by("20250827-134315-step500") == "step 500");
}

TEST_CASE("checkpoint names: versions and labels") {
  CHECK(version_of_name("epoch=3-step=500-v12") == 12);
  CHECK(version_of_name("epoch=3-step=500") == 0);
  CHECK(version_of_name("v12") == 0);
  CHECK(label_of_name("last") == 0U);
  CHECK(label_of_name("model-latest") == 1U);
  CHECK(label_of_name("FinalModel") == 2U);
  CHECK(label_of_name("checkpoint-500_best") == 3U);
  CHECK(label_of_name("best_or_last") == 0U);
  CHECK_FALSE(label_of_name("blast"));
}

TEST_CASE("checkpoint names: shards") {
  const auto split = [](std::string_view file) {
    const TensorFileName name = split_tensor_file_name(file);
    return std::string(name.stem) + " " + std::to_string(name.shard) + " " + std::to_string(name.of);
  };
  CHECK(split("a/b/model-00002-of-00010.safetensors") == "model 2 10");
  CHECK(split("model.safetensors") == "model 0 0");
  CHECK(split("model.safetensors.index.json") == "model 0 0");
  CHECK(split("model-00011-of-00010.safetensors") == "model-00011-of-00010 0 0");  // there is no such shard
  CHECK(split("model-1-of-2.safetensors") == "model-1-of-2 0 0");
  CHECK(split("model.fp16-00001-of-00002.safetensors") == "model.fp16 1 2");
  CHECK(split("pytorch_model-00001-of-00002.bin") == "pytorch_model 1 2");
  CHECK(split("pytorch_model.bin.index.json") == "pytorch_model 0 0");
  CHECK(split("epoch=3-step=80.ckpt") == "epoch=3-step=80 0 0");
}

TEST_CASE("checkpoint names: which files are of tensors") {
  CHECK(tensor_ending("a/best.pt") == ".pt");
  CHECK(tensor_ending("last.ckpt") == ".ckpt");
  CHECK(tensor_ending("model_best.pth.tar") == ".pth.tar");
  CHECK(tensor_ending("a/._best.pt").empty());
  CHECK(tensor_ending(".pt").empty());
  CHECK(tensor_ending("optimizer.pt") == ".pt");
  CHECK(tensor_ending("scheduler.pt").empty());
  CHECK(tensor_ending("training_args.bin").empty());
  CHECK(tensor_ending("rng_state_0.pth").empty());
  CHECK(is_checkpoint_file("__0_0.distcp"));
  CHECK_FALSE(is_checkpoint_file("config.json"));
}
