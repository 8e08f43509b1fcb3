// SPDX-License-Identifier: Apache-2.0
// Checkpoints that come and go while they are followed, file by file: whatever a look sees, each tensor comes once.
#include "layout/layout_kind.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace smd::detail;
using namespace smd::detail::layout;
using smd::ProblemKind;
using smd::test::TempDir;
using Texts = std::vector<std::string>;

namespace {

constexpr std::chrono::hours old_age(1);
constexpr std::chrono::seconds young_age(0);

/// The bytes of a file with one number.
std::string tensor_file(const std::string& tensor) {
  const std::string header = "{\"" + tensor + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  return static_cast<char>(header.size()) + std::string(7, '\0') + header + std::string(4, '\0');
}

/// The opcode of a number below 65536: BININT2.
std::string bin_int2(int value) {
  return std::string{'M', static_cast<char>(value % 256), static_cast<char>(value / 256)};
}

/// The bytes of a file of PyTorch, in the stream form. `keys`: of the storages, which are to be appended.
std::string torch_stream(const std::string& object, const std::string& keys) {
  const auto pickle = [](const std::string& opcodes) { return "\x80\x02" + opcodes + "."; };
  return pickle("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") + pickle(bin_int2(1001)) +
         pickle("}U\x0dlittle_endian\x88s") + pickle(object) + pickle(keys);
}

/// A file of PyTorch with two numbers and no tensor.
std::string torch_file(int epoch, int iter) {
  return torch_stream("}U\005epoch" + bin_int2(epoch) + "sU\004iter" + bin_int2(iter) + "s", "]");
}

/// A file of PyTorch with a number `epoch` and a tensor `best_acc` of one float32.
std::string scored_file() {
  const std::string storage = "(U\007storagectorch\nFloatStorage\nU\0010U\003cpuM\x01" + std::string(1, '\0') + "NtQ";
  const std::string sizes = bin_int2(1) + "\x85";
  return torch_stream("}U\005epoch" + bin_int2(1) + "sU\010best_accctorch._utils\n_rebuild_tensor_v2\n(" + storage +
                          bin_int2(0) + sizes + sizes + "\x89}tRs",
                      "]U\0010a") +
         "\x01" + std::string(7, '\0') + std::string(4, '\0');
}

std::string shard_index() {
  return R"({"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}})";
}

/// A folder of checkpoints, and what looks at it gave.
class SavedRun {
 public:
  void write(const std::string& path, std::string_view bytes, std::chrono::seconds age) {
    std::filesystem::last_write_time(dir_.write(path, bytes), std::filesystem::file_time_type::clock::now() - age);
  }
  void remove(const std::string& path) { std::filesystem::remove_all(dir_ / path); }

  /// Returns what no look before gave: `10 NAME`.
  Texts look() {
    const auto storage = storage::open_local_with_links(dir_.path());
    REQUIRE(storage);
    auto found = layout_->look(**storage, request, listing_.get(), collections_);
    REQUIRE(found);
    if (found->listing != nullptr) {
      listing_ = found->listing;
    }
    collections_ = found->collections;
    if (found->afresh) {
      held_.clear();
    }
    Texts fresh;
    std::uint64_t last = last_;
    for (const RowSequence& sequence : found->loaded.rows) {
      const Tables& tables = found->loaded.tables.at(sequence.tables);
      for (const std::uint32_t name : tables.name_lists.at(tables.payloads.at(sequence.row.payload).names)) {
        const std::string text = std::to_string(sequence.row.file.step) + " " + std::string(tables.names[name]);
        held_.push_back(text);
        if (sequence.row.file.id > last_) {
          fresh.push_back(text);
        }
      }
      last = std::max(last, sequence.row.file.id);
    }
    last_ = last;
    std::ranges::sort(held_);
    std::ranges::sort(fresh);
    return fresh;
  }
  /// What the trial has now.
  [[nodiscard]] const Texts& held() const { return held_; }
  [[nodiscard]] bool has(ProblemKind kind) const {
    return std::ranges::any_of(listing_->notes.kept(), [&](const auto& note) { return note.kind == kind; });
  }
  /// Whether a note, or the name of its file, has these words in it.
  [[nodiscard]] bool says(const std::string& words) const {
    return std::ranges::any_of(listing_->notes.kept(), [&](const auto& note) {
      return (note.file + ": " + note.text).find(words) != std::string::npos;
    });
  }
  [[nodiscard]] Texts collection(const std::string& name) const {
    const auto found = collections_->collections->find(name);
    return found == collections_->collections->end() ? Texts() : found->second.tensor_names;
  }

  LookRequest request;  ///< Of all looks.

 private:
  TempDir dir_;
  std::unique_ptr<Layout> layout_ = checkpoints_layout({});
  std::shared_ptr<const Listing> listing_;
  std::shared_ptr<const CollectionsInfo> collections_;
  Texts held_;
  std::uint64_t last_ = 0;
};

}  // namespace

TEST_CASE("what is left of a checkpoint that is removed file by file keeps its names") {
  SavedRun run;
  for (const std::string& file : Texts{"model", "optimizer", "ema"}) {
    run.write("step_10/" + file + ".safetensors", tensor_file(file == "optimizer" ? "c" : "a"), old_age);
  }
  CHECK(run.look() == Texts{"10 a", "10 ema/a", "10 optimizer/c"});
  run.write("step_20/model.safetensors", tensor_file("a"), old_age);
  CHECK(run.look() == Texts{"20 a"});
  run.remove("step_10/model.safetensors");
  CHECK(run.look().empty());
  CHECK(run.held() == Texts{"10 ema/a", "10 optimizer/c", "20 a"});
  run.remove("step_10/optimizer.safetensors");
  CHECK(run.look().empty());
  CHECK(run.held() == Texts{"10 ema/a", "20 a"});
  run.write("step_30/model.safetensors", tensor_file("a"), old_age);
  CHECK(run.look() == Texts{"30 a"});
  run.remove("step_10");
  CHECK(run.look().empty());
  CHECK(run.held() == Texts{"20 a", "30 a"});
}

TEST_CASE("a file has the same names at every step, with and without an optimizer's beside it") {
  const std::string net = tensor_file("w");
  const auto write = [&](SavedRun& run, const std::string& step, bool with_optimizer) {
    run.write("step_" + step + "/net.safetensors", net, old_age);
    if (with_optimizer) {
      run.write("step_" + step + "/optimizer.safetensors", tensor_file("c"), old_age);
    }
  };
  SavedRun fresh;
  write(fresh, "10", false);
  write(fresh, "20", true);
  CHECK(fresh.look() == Texts{"10 net/w", "20 net/w", "20 optimizer/c"});
  SUBCASE("an optimizer's file that comes later renames what was there, and one that goes renames nothing") {
    SavedRun run;
    write(run, "10", false);
    CHECK(run.look() == Texts{"10 w"});
    write(run, "20", true);
    run.look();
    CHECK(run.held() == Texts{"10 net/w", "20 net/w", "20 optimizer/c"});
    run.remove("step_20/optimizer.safetensors");
    write(run, "30", false);
    CHECK(run.look() == Texts{"30 net/w"});
    CHECK(run.held() == Texts{"10 net/w", "20 net/w", "30 net/w"});
  }
  SUBCASE("a checkpoint that is still written, or removed, renames nothing at other steps") {
    const auto write_sharded = [](SavedRun& run, const std::string& step) {
      run.write(step + "/net-00001-of-00002.safetensors", tensor_file("a"), old_age);
      run.write(step + "/net-00002-of-00002.safetensors", tensor_file("b"), old_age);
      run.write(step + "/extra.safetensors", tensor_file("c"), old_age);
    };
    const std::string index =
        R"({"weight_map":{"a":"net-00001-of-00002.safetensors","b":"net-00002-of-00002.safetensors"}})";
    SavedRun run;
    write_sharded(run, "step_10");
    run.write("step_10/net.safetensors.index.json", index, old_age);
    const Texts first{"10 a", "10 b", "10 extra/c"};
    CHECK(run.look() == first);
    write_sharded(run, "step_20");
    run.look();
    run.write("step_20/net.safetensors.index.json", index, old_age);
    run.look();
    CHECK(run.held() == Texts{"10 a", "10 b", "10 extra/c", "20 a", "20 b", "20 extra/c"});
    run.remove("step_10/net.safetensors.index.json");
    run.look();
    CHECK(run.held() == Texts{"10 a", "10 b", "10 extra/c", "20 a", "20 b", "20 extra/c"});
    SavedRun without;  // no index comes
    without.write("step_10/net.safetensors", net, old_age);
    without.look();
    write_sharded(without, "step_20");
    without.look();
    without.request.now += std::chrono::seconds(60);
    without.look();
    CHECK(without.held() == Texts{"10 net/w", "20 extra/c", "20 net/a", "20 net/b"});
  }
  SUBCASE("what is beside the model at another step is not the model where it is alone") {
    SavedRun run;
    run.write("step_10/ema.safetensors", net, old_age);
    run.write("step_20/ema.safetensors", net, old_age);
    run.write("step_20/model.safetensors", net, old_age);
    CHECK(run.look() == Texts{"10 ema/w", "20 ema/w", "20 w"});
  }
}

TEST_CASE("the number of a checkpoint in its files' names stands in no tensor's name") {
  const auto write = [](SavedRun& run, const std::string& step, const Texts& files) {
    for (const std::string& file : files) {
      run.write("step_" + step + "/" + file + ".safetensors", tensor_file("w"), old_age);
    }
  };
  SavedRun run;
  write(run, "100", {"net_000100", "optim_step100"});
  const Texts first{"100 net/w", "100 optim_step/w"};
  CHECK(run.look() == first);
  write(run, "200", {"net_000200", "optim_step200"});
  CHECK(run.look() == Texts{"200 net/w", "200 optim_step/w"});
  write(run, "300", {"net_000300"});
  CHECK(run.look() == Texts{"300 net/w"});
  SavedRun shards;
  write(shards, "100", {"net_100-00001-of-00002", "optim_100"});
  CHECK(shards.look() == Texts{"100 net/w", "100 optim/w"});
  CHECK(shards.says("step_100/net_100-00002-of-00002.safetensors: is not there"));
  SUBCASE("other numbers tell files apart, and so do those of files that have none at some step") {
    SavedRun parts;
    write(parts, "1", {"net_1", "net_2"});
    write(parts, "2", {"net_1", "net_2"});
    CHECK(parts.look() == Texts{"1 net_1/w", "1 net_2/w", "2 net_1/w", "2 net_2/w"});
    SavedRun second;
    write(second, "1", {"net", "net_1"});
    CHECK(second.look() == Texts{"1 net/w", "1 net_1/w"});
    SavedRun twice;
    write(twice, "1", {"net_01", "net_1"});
    CHECK(twice.look() == Texts{"1 net_01/w", "1 net_1/w"});
  }
}

TEST_CASE("the collections of a tensor do not depend on which step comes first") {
  for (const std::string& step : Texts{"10", "20"}) {
    CAPTURE(step);
    SavedRun run;
    run.write("step_10/net.pt", scored_file(), old_age);
    run.write("step_20/net.pt", scored_file(), old_age);
    run.write("step_" + step + "/optim.safetensors", tensor_file("c"), old_age);
    CHECK(run.look().size() == 4);  // the number `epoch` is one of the file that is alone
    CHECK(run.collection("scalars") == Texts{"epoch", "net/best_acc"});
  }
}

TEST_CASE("what is beside the model at one step is a weight of it at none") {
  const std::string net = tensor_file("fc.weight");
  for (const std::string& step : Texts{"10", "20"}) {
    for (const bool followed : {false, true}) {
      CAPTURE(step);
      CAPTURE(followed);
      SavedRun run;
      run.write("step_10/ema.safetensors", net, old_age);
      run.write("step_20/ema.safetensors", net, old_age);
      if (followed) {
        run.look();
      }
      run.write("step_" + step + "/model.safetensors", net, old_age);
      run.look();
      Texts right{"10 ema/fc.weight", "20 ema/fc.weight", step + " fc.weight"};
      std::ranges::sort(right);
      CHECK(run.held() == right);
      CHECK(run.collection("weights") == Texts{"fc.weight"});
      CHECK(run.collection("all") == Texts{"ema/fc.weight", "fc.weight"});
    }
  }
}

TEST_CASE("a step that files with other numbers in their names state is none, also once it is followed") {
  const auto write = [](SavedRun& run, const std::string& name, int epoch, int step) {
    run.write(name, torch_file(epoch, step), old_age);
  };
  SavedRun run;
  write(run, "epoch_1.pt", 1, 499);
  CHECK(run.look() == Texts{"499 epoch", "499 iter"});
  write(run, "epoch_2.pt", 2, 499);  // one of two may be a copy
  run.look();
  CHECK(run.held() == Texts{"499 epoch", "499 iter"});
  CHECK_FALSE(run.says("the numbers in names count"));
  write(run, "epoch_3.pt", 3, 499);
  const Texts all{"1 epoch", "1 iter", "2 epoch", "2 iter", "3 epoch", "3 iter"};
  CHECK(run.look() == all);
  CHECK(run.held() == all);
  CHECK(run.says("the numbers in names count"));
  run.remove("epoch_1.pt");
  run.look();
  CHECK(run.says("the numbers in names count"));
  CHECK(run.held() == Texts{"2 epoch", "2 iter", "3 epoch", "3 iter"});
  SavedRun of_names;
  write(of_names, "ckpt_100.pt", 0, 0);
  write(of_names, "ckpt_200.pt", 0, 0);
  write(of_names, "ckpt_300.pt", 0, 0);
  CHECK(of_names.look() == Texts{"100 epoch", "100 iter", "200 epoch", "200 iter", "300 epoch", "300 iter"});
  SavedRun of_both;  // names of epochs beside one of a step
  write(of_both, "epoch_1.pt", 1, 499);
  write(of_both, "epoch_2.pt", 2, 499);
  write(of_both, "epoch_3.pt", 3, 499);
  write(of_both, "step_1000.pt", 4, 1000);
  CHECK(of_both.look() == Texts{"1000 epoch", "1000 iter", "499 epoch", "499 iter"});
  SavedRun of_files;  // another name of the same step
  write(of_files, "ckpt_100.pt", 1, 100);
  write(of_files, "ckpt_200.pt", 2, 100);
  CHECK(of_files.look() == Texts{"100 epoch", "100 iter"});
}

TEST_CASE("a log that its Trainer writes anew in place gives only what is new") {
  const auto state = [](int steps) {
    std::string entries;
    for (int step = 1; step <= steps; ++step) {
      entries += (step == 1 ? "" : ",") + fmt::format(R"({{"step":{},"loss":1.5}})", step);
    }
    return fmt::format(R"({{"global_step":{},"log_history":[{}]}})", steps, entries);
  };
  SavedRun run;
  run.write("trainer_state.json", state(2), young_age);
  CHECK(run.look() == Texts{"1 train/loss", "2 train/loss"});
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{10}, std::size_t{50}, state(3).size() - 1}) {
    run.write("trainer_state.json", state(3).substr(0, bytes), young_age);
    CHECK(run.look().empty());
    CHECK(run.held() == Texts{"1 train/loss", "2 train/loss"});
  }
  run.write("trainer_state.json", state(3), young_age);
  CHECK(run.look() == Texts{"3 train/loss"});
  CHECK(run.held() == Texts{"1 train/loss", "2 train/loss", "3 train/loss"});
}

TEST_CASE("a log that cannot be read gives way to the one before it, and one of another run is named") {
  const auto state = [](int step, const std::string& losses) {
    return fmt::format(R"({{"global_step":{},"log_history":[{}]}})", step, losses);
  };
  const std::string first = R"({"step":5,"loss":1.0},{"step":10,"loss":0.5})";
  const std::string whole = state(20, first + R"(,{"step":20,"loss":0.25})");
  SavedRun run;
  run.write("checkpoint-10/trainer_state.json", state(10, first), 3 * old_age);
  CHECK(run.look() == Texts{"10 train/loss", "5 train/loss"});
  run.write("checkpoint-20/trainer_state.json", whole.substr(0, whole.size() - 5), 2 * old_age);
  run.request.as_it_stands = true;
  CHECK(run.look().empty());
  CHECK(run.held() == Texts{"10 train/loss", "5 train/loss"});
  CHECK(run.has(ProblemKind::damaged));
  run.write("checkpoint-20/trainer_state.json", whole, 2 * old_age);
  CHECK(run.look() == Texts{"20 train/loss"});
  CHECK_FALSE(run.has(ProblemKind::damaged));
  run.write("checkpoint-10/trainer_state.json", state(10, first), old_age);  // a copy of a whole run, in any order
  run.look();
  CHECK_FALSE(run.has(ProblemKind::warning));
  run.write("trainer_state.json", state(15, first + R"(,{"step":15,"train_runtime":7.5})"), young_age);
  run.look();
  CHECK_FALSE(run.has(ProblemKind::warning));
  run.write("trainer_state.json", state(15, R"({"step":5,"loss":1.0},{"step":10,"loss":NaN})"), young_age);
  CHECK(run.look().empty());
  CHECK(run.has(ProblemKind::warning));
  CHECK(run.says("checkpoint-20/trainer_state.json: its log counts"));
  CHECK(run.says("'trainer_state.json' contradicts it"));
}

TEST_CASE("shards that are removed one by one are no damage, with and without an index") {
  for (const bool with_index : {false, true}) {
    SavedRun run;
    run.write("step_10/model-00001-of-00002.safetensors", tensor_file("a"), old_age);
    run.write("step_10/model-00002-of-00002.safetensors", tensor_file("b"), old_age);
    if (with_index) {
      run.write("step_10/model.safetensors.index.json", shard_index(), old_age);
    }
    run.write("step_20/model.safetensors", tensor_file("a"), old_age);
    CHECK(run.look() == Texts{"10 a", "10 b", "20 a"});
    for (const std::string& shard : Texts{"1", "2"}) {
      run.remove("step_10/model-0000" + shard + "-of-00002.safetensors");
      CHECK(run.look().empty());
      CHECK_FALSE(run.has(ProblemKind::damaged));
      run.write("step_20/optimizer" + shard + ".safetensors", tensor_file("c"), old_age);
      CHECK(run.look() == Texts{"20 optimizer" + shard + "/c"});
      CHECK_FALSE(run.has(ProblemKind::damaged));
    }
    CHECK(run.held() == Texts{"20 a", "20 optimizer1/c", "20 optimizer2/c"});
  }
}

TEST_CASE("a further file of a checkpoint that is still written takes nothing back") {
  SavedRun run;
  run.write("step_10/model.safetensors", tensor_file("a"), young_age);
  CHECK(run.look() == Texts{"10 a"});
  const std::string optimizer = tensor_file("c");
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{9}, optimizer.size() - 1}) {
    run.write("step_10/optimizer.safetensors", std::string_view(optimizer).substr(0, bytes), young_age);
    CHECK(run.look().empty());
    CHECK(run.held() == Texts{"10 a"});
    CHECK(run.has(ProblemKind::not_yet));
  }
  run.write("step_10/optimizer.safetensors", optimizer, young_age);
  CHECK(run.look() == Texts{"10 optimizer/c"});
  CHECK(run.held() == Texts{"10 a", "10 optimizer/c"});
}

TEST_CASE("shards count when all are there, whatever comes first") {
  std::vector<std::pair<std::string, std::string>> files = {
      {"step_10/model-00001-of-00002.safetensors", tensor_file("a")},
      {"step_10/model-00002-of-00002.safetensors", tensor_file("b")},
      {"step_10/model.safetensors.index.json", shard_index()},
  };
  std::ranges::sort(files);
  do {
    SavedRun run;
    run.write("step_5/model.safetensors", tensor_file("a"), old_age);
    CHECK(run.look() == Texts{"5 a"});
    std::size_t shards = 0;
    for (const auto& file : files) {
      const std::string& path = file.first;
      const std::string& bytes = file.second;
      CAPTURE(path);
      run.write(path, bytes.substr(0, bytes.size() / 2), young_age);
      CHECK(run.look().empty());
      CHECK_FALSE(run.has(ProblemKind::damaged));
      CHECK(run.has(ProblemKind::not_yet));
      run.write(path, bytes, young_age);
      shards += path.ends_with(".json") ? 0 : 1;
      const bool last = shards == 2 && !path.ends_with(".json");
      CHECK(run.look() == (last ? Texts{"10 a", "10 b"} : Texts()));
      CHECK_FALSE(run.has(ProblemKind::damaged));
    }
    CHECK_FALSE(run.has(ProblemKind::not_yet));
    CHECK(run.held() == Texts{"10 a", "10 b", "5 a"});
  } while (std::ranges::next_permutation(files).found);
}

TEST_CASE("an index that comes last tells which of two sets of shards is the model") {
  SavedRun run;
  for (const std::string& shard : Texts{"1", "2", "3"}) {
    run.write("step_10/model-0000" + shard + "-of-00003.safetensors", tensor_file("old" + shard), old_age);
  }
  const std::string index = "step_10/model.safetensors.index.json";
  run.write(index,
            R"({"weight_map":{"old1":"model-00001-of-00003.safetensors",)"
            R"("old2":"model-00002-of-00003.safetensors","old3":"model-00003-of-00003.safetensors"}})",
            old_age);
  CHECK(run.look() == Texts{"10 old1", "10 old2", "10 old3"});
  run.write("step_10/model-00001-of-00002.safetensors", tensor_file("a"), old_age);
  run.write("step_10/model-00002-of-00002.safetensors", tensor_file("b"), old_age);
  CHECK(run.look() == Texts{"10 model/a", "10 model/b"});
  run.write(index, shard_index().substr(0, 20), young_age);
  CHECK(run.look().empty());
  CHECK(run.held() == Texts{"10 model/a", "10 model/b", "10 old1", "10 old2", "10 old3"});
  run.write(index, shard_index(), young_age);
  CHECK(run.look() == Texts{"10 a", "10 b", "10 model/old1", "10 model/old2", "10 model/old3"});
  CHECK(run.held() == Texts{"10 a", "10 b", "10 model/old1", "10 model/old2", "10 model/old3"});
  CHECK_FALSE(run.has(ProblemKind::damaged));
}

TEST_CASE("a follower and a fresh look agree on an index whose shards never come") {
  const std::string index = "step_10/model.safetensors.index.json";
  const std::string of_five = R"({"weight_map":{"a":"model-00001-of-00005.safetensors",)"
                              R"("b":"model-00002-of-00005.safetensors"}})";
  const auto write_shards = [](SavedRun& to) {
    to.write("step_10/model-00001-of-00002.safetensors", tensor_file("a"), old_age);
    to.write("step_10/model-00002-of-00002.safetensors", tensor_file("b"), old_age);
    to.write("step_10/model-00001-of-00005.safetensors", tensor_file("a"), old_age);
  };
  SavedRun run;
  write_shards(run);
  run.write(index, shard_index(), old_age);
  CHECK(run.look() == Texts{"10 a", "10 b", "10 model/a"});
  run.write(index, of_five, young_age);
  CHECK(run.look().empty());
  run.request.now += std::chrono::seconds(60);
  run.look();
  const Texts right{"10 a", "10 model/a", "10 model/b"};
  CHECK(run.held() == right);
  CHECK(run.has(ProblemKind::damaged));
  run.look();
  CHECK(run.held() == right);
  SavedRun fresh;
  write_shards(fresh);
  fresh.write(index, of_five, old_age);
  CHECK(fresh.look() == right);
  CHECK(fresh.has(ProblemKind::damaged));
}

TEST_CASE("an index that is being written does not change which of two sets of shards counts") {
  SavedRun run;
  for (const std::string& shard : Texts{"1", "2", "3"}) {
    run.write("step_10-0000" + shard + "-of-00003.safetensors", tensor_file("old" + shard), old_age);
  }
  CHECK(run.look() == Texts{"10 old1", "10 old2", "10 old3"});
  run.write("step_10-00001-of-00002.safetensors", tensor_file("a"), old_age);
  run.write("step_10-00002-of-00002.safetensors", tensor_file("b"), old_age);
  CHECK(run.look() == Texts{"10 a", "10 b"});
  const std::string index =
      R"({"weight_map":{"a":"step_10-00001-of-00002.safetensors","b":"step_10-00002-of-00002.safetensors"}})";
  for (const std::size_t bytes : {std::size_t{0}, index.size(), std::size_t{20}, index.size()}) {
    run.write("step_10.safetensors.index.json", std::string_view(index).substr(0, bytes), young_age);
    CHECK(run.look().empty());
    CHECK(run.held() == Texts{"10 a", "10 b"});
    CHECK(run.has(ProblemKind::not_yet) == (bytes < index.size()));
  }
}

TEST_CASE("a shard that is not there is damage once the others are old, and when it comes the others stay") {
  SavedRun run;
  run.write("step_10/model-00002-of-00002.safetensors", tensor_file("b"), old_age);
  CHECK(run.look() == Texts{"10 b"});
  CHECK(run.has(ProblemKind::damaged));
  run.write("step_20/model.safetensors", tensor_file("a"), old_age);
  CHECK(run.look() == Texts{"20 a"});
  CHECK(run.has(ProblemKind::damaged));
  run.write("step_10/model-00001-of-00002.safetensors", tensor_file("a"), old_age);
  CHECK(run.look() == Texts{"10 a"});
  CHECK_FALSE(run.has(ProblemKind::damaged));
}

TEST_CASE("a follower counts the minute from when it saw a file change, whatever the clock of the file's host says") {
  const std::string whole = tensor_file("b");
  for (const std::chrono::hours age : {std::chrono::hours(1), std::chrono::hours(0), std::chrono::hours(-720)}) {
    SavedRun run;
    run.write("step_5/model.safetensors", tensor_file("a"), old_age);
    CHECK(run.look() == Texts{"5 a"});
    run.write("step_10/model-00002-of-00002.safetensors", whole, age);
    CHECK(run.look().empty());
    CHECK(run.has(ProblemKind::not_yet));
    run.request.now += std::chrono::seconds(50);
    run.write("step_10/model-00001-of-00002.safetensors", whole.substr(0, 9), age);
    CHECK(run.look().empty());
    run.request.now += std::chrono::seconds(59);
    CHECK(run.look().empty());
    CHECK_FALSE(run.has(ProblemKind::damaged));
    run.request.now += std::chrono::seconds(1);
    CHECK(run.look() == Texts{"10 b"});
    CHECK(run.has(ProblemKind::damaged));
  }
}

TEST_CASE("a follower that finds a file counts from then, unless it was written more than an hour ago") {
  for (const std::chrono::seconds age : {std::chrono::seconds(90), std::chrono::seconds(-7200)}) {
    SavedRun run;
    run.write("step_10/model-00002-of-00002.safetensors", tensor_file("b"), age);
    CHECK(run.look().empty());
    run.request.now += std::chrono::seconds(60);
    CHECK(run.look() == Texts{"10 b"});
    CHECK(run.has(ProblemKind::damaged));
  }
}

TEST_CASE("a file of the future is not young, unless the clocks differ little") {
  for (const auto& [ahead, kind] : {std::pair(std::chrono::seconds(30), ProblemKind::not_yet),
                                    std::pair(std::chrono::seconds(3600), ProblemKind::damaged)}) {
    SavedRun run;
    run.request.as_it_stands = true;
    run.write("step_5/model.safetensors", tensor_file("a"), old_age);
    run.write("step_10/model.safetensors", tensor_file("a").substr(0, 20), -ahead);
    run.look();
    CHECK(run.has(kind));
  }
}
