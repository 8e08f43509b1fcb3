// SPDX-License-Identifier: Apache-2.0
#include "layout/kinds/kinds.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace smd::detail;
using namespace smd::detail::layout;
using smd::test::TempDir;
using Texts = std::vector<std::string>;

namespace {

constexpr const char* event_file = "/events.out.tfevents.1700000000.host.1.0";

/// The layout of a folder, and those that it leaves out: `tensorboard checkpoints`. Empty if it is no trial.
std::string recognised(const std::string& path, std::string_view only = {}) {
  const auto storage = storage::open_local_with_links(path);
  REQUIRE(storage);
  FolderWalk walk(**storage, path.substr(path.rfind('/') + 1));
  REQUIRE(walk.next());
  const Recognised found = recognise(walk, only);
  std::string text(found.kind == nullptr ? "" : found.kind->traits.name);
  for (const auto& other : found.left_out) {
    text.append(" ").append(other.kind->traits.name);
  }
  return text;
}

Texts found_in(const std::string& path, std::string_view only = {}) {
  const auto storage = storage::open_local_with_links(path);
  REQUIRE(storage);
  FolderWalk walk(**storage, path.substr(path.rfind('/') + 1));
  REQUIRE(walk.next());
  return layout::find_trials(walk, only);
}

}  // namespace

TEST_CASE("what lies in a folder itself tells its layout, a debugger trial first") {
  const TempDir dir;
  dir.make_dir("empty");
  dir.write(std::string("logs") + event_file, "");
  dir.write("job/collections/000000000/worker_0_collections.json", "");
  dir.write(std::string("job/tensorboard") + event_file, "");
  dir.write("steps/events/000000000001/000000000001_worker_0.tfevents", "");
  dir.write("ended/training_job_end.ts", "");
  dir.write(std::string("run_events/events") + event_file, "");
  dir.write(std::string("pairs/train") + event_file, "");
  dir.write(std::string("pairs/validation") + event_file, "");
  dir.write("model/model.safetensors", "");
  dir.write("state/trainer_state.json", "");
  dir.write("index_alone/model.safetensors.index.json", "");
  dir.write("steps_of_one/checkpoint-5/model.safetensors", "");
  dir.write("labels/best/model.safetensors", "");
  dir.write("components/checkpoint-5/unet/diffusion_pytorch_model.safetensors", "");
  dir.write("pipeline/unet/diffusion_pytorch_model.safetensors", "");
  dir.write("pipeline/model_index.json", "");
  dir.write("run_below/exp1/model.safetensors", "");
  const auto is = [&](const char* folder) { return recognised(dir / folder); };
  CHECK(is("empty").empty());
  CHECK(is("logs") == "tensorboard");
  CHECK(is("job") == "debugger");
  CHECK(is("steps") == "debugger");
  CHECK(is("ended") == "debugger");
  CHECK(is("run_events").empty());
  CHECK(is("pairs") == "tensorboard");
  for (const char* folder : {"model", "state", "index_alone", "steps_of_one", "labels", "components", "pipeline",
                             "components/checkpoint-5"}) {
    CHECK_MESSAGE(is(folder) == "checkpoints", folder);
  }
  CHECK(is("run_below").empty());
}

TEST_CASE("a folder with data of two layouts has one and tells of the other") {
  const TempDir dir;
  dir.write("both/checkpoint-5/model.safetensors", "");
  dir.write(std::string("both") + event_file, "");
  dir.write("hidden/collections/000000000/worker_0_collections.json", "");
  dir.write(std::string("hidden") + event_file, "");
  dir.write("trainer/checkpoint-5/model.safetensors", "");
  dir.write(std::string("trainer/runs/Jan01_00-00-00_host") + event_file, "");
  dir.write("sides/checkpoint-5/model.safetensors", "");
  dir.write(std::string("sides/train") + event_file, "");
  CHECK(recognised(dir / "both") == "tensorboard checkpoints");
  CHECK(recognised(dir / "both", "checkpoints") == "checkpoints");
  CHECK(recognised(dir / "hidden") == "debugger tensorboard");
  CHECK(recognised(dir / "trainer") == "checkpoints");
  CHECK(recognised(dir / "sides") == "checkpoints tensorboard");
  CHECK(found_in(dir / "trainer") == Texts{"", "runs/Jan01_00-00-00_host"});
  CHECK(found_in(dir / "trainer", "tensorboard") == Texts{"runs/Jan01_00-00-00_host"});
}

TEST_CASE("files that only look like event files make no run") {
  const TempDir dir;
  dir.write("tests/tfevents.md", "# notes about tfevents\n");
  dir.write(std::string("tests/x") + event_file, "");
  dir.write(std::string("tests/y") + event_file, "");
  CHECK(recognised(dir / "tests").empty());
  CHECK(found_in(dir.path()) == Texts{"tests/x", "tests/y"});
}

TEST_CASE("a run keeps its path when another appears beside it") {
  const TempDir dir;
  for (const char* run : {"exp1/train", "exp1/validation", "bert_train", "top/sub/deep"}) {
    dir.write(std::string(run) + event_file, "");
  }
  CHECK(found_in(dir.path()) == Texts{"bert_train", "exp1", "top/sub/deep"});
  for (const char* run : {"exp2/train", "exp1/other", "resnet_train", "top/sub"}) {
    dir.write(std::string(run) + event_file, "");
  }
  CHECK(found_in(dir.path()) == Texts{"bert_train", "exp1", "exp1/other", "exp2", "resnet_train", "top/sub"});
}

TEST_CASE("runs of checkpoints are found, also beside and below another, but not what one reads") {
  const TempDir dir;
  for (const char* folder : {"runs/final", "runs/exp1", "stamps/qwen-20240101-101530", "stamps/qwen-20240102-093015",
                             "swift/v0-20240101-101530/checkpoint-100", "swift/v0-20240101-101530/checkpoint-200",
                             "out/checkpoint-5", "out/checkpoint-5/unet", "out/adapter", "2024/a", "2024/b"}) {
    dir.write(std::string(folder) + "/model.safetensors", "");
  }
  dir.write("lr1/trainer_state.json", "");
  CHECK(found_in(dir.path()) == Texts{"2024/a", "2024/b", "lr1", "out", "out/adapter", "runs", "runs/exp1",
                                      "stamps/qwen-20240101-101530", "stamps/qwen-20240102-093015",
                                      "swift/v0-20240101-101530"});
}

TEST_CASE("recorded debugger trials are no log directories") {
  std::size_t trials = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SMD_RECORDED_TRIALS)) {
    const std::filesystem::path folder = entry.path();
    if (!entry.is_directory() || !std::filesystem::is_directory(folder / "collections" / "000000000")) {
      continue;
    }
    CAPTURE(folder.string());
    CHECK(recognised(folder.string()) == "debugger");
    ++trials;
  }
  CHECK(trials > 10);
}
