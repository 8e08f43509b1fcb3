// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/trainer_state.hpp"

#include "layout/checkpoints/shard_index.hpp"
#include "support/padded.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>

using namespace smd::detail::layout;
using smd::test::padded;

namespace {

std::string numbers_of(const TrainerLog& log) {
  std::string all;
  log.for_each_step([&](std::int64_t step, std::span<const TrainerLog::Number> numbers) {
    for (const auto& [name, value] : numbers) {
      all += log.names[name] + "@" + std::to_string(step) + "=" + std::to_string(value) + " ";
    }
  });
  return all;
}

}  // namespace

TEST_CASE("trainer state: the step that it is of") {
  CHECK(global_step_of(padded(R"({"a":[1,{"global_step":3}],"global_step":20,"b":)")) == 20);
  CHECK(global_step_of(padded(R"({"global_step":20.0})")) == 20);
  CHECK_FALSE(global_step_of(padded(R"({"global_step":2)")));  // digits may be missing
  CHECK_FALSE(global_step_of(padded(R"({"global_step":"20"})")));
  CHECK_FALSE(global_step_of(padded(R"({"global_step":-1})")));
  CHECK_FALSE(global_step_of(padded(R"({"steps":20})")));
  CHECK_FALSE(global_step_of(padded("not JSON")));
}

TEST_CASE("trainer state: numbers of the log, named as TensorBoard shows them") {
  const auto log = parse_trainer_log(padded(R"({"best_metric":NaN,"log_history":[
      {"step":20,"eval_loss":NaN,"test_accuracy":-Infinity},
      {"loss":2.5,"epoch":1,"step":10,"note":"text","ok":true,"grad_norm":"nan"},
      {"loss":1.5},
      {"loss":1.5,"step":2.5}]})"));
  REQUIRE(log);
  CHECK(numbers_of(*log) ==
        "train/loss@10=2.500000 train/epoch@10=1.000000 train/grad_norm@10=nan "
        "eval/loss@20=nan test/accuracy@20=-inf ");
  CHECK(log->without_step == 2);
  CHECK_FALSE(log->empty());
}

TEST_CASE("trainer state: of a number that is logged twice the last counts, and of a log too") {
  const auto log = parse_trainer_log(padded(R"({"log_history":[{"step":1,"gone":1}],"log_history":[
      {"loss":1,"step":5,"loss":2},{"eval_loss":3,"step":5},{"loss":4,"lr":5,"step":5},{"loss":6,"step":4}]})"));
  REQUIRE(log);
  CHECK(numbers_of(*log) == "train/loss@4=6.000000 train/loss@5=4.000000 eval/loss@5=3.000000 train/lr@5=5.000000 ");
}

TEST_CASE("trainer state: entries with ever other names") {
  std::string entries;
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i % 40);
    entries += (i == 0 ? "{\"" : ",{\"") + name + "\":" + std::to_string(i) + ",\"step\":" + std::to_string(i) + "}";
    expected += "train/" + name + "@" + std::to_string(i) + "=" + std::to_string(static_cast<double>(i)) + " ";
  }
  const auto log = parse_trainer_log(padded("{\"log_history\":[" + entries + "]}"));
  REQUIRE(log);
  CHECK(numbers_of(*log) == expected);
}

TEST_CASE("trainer state: what is no JSON is reported with its place") {
  const auto log = parse_trainer_log(padded(R"({"log_history":[{"loss":}]})"));
  REQUIRE_FALSE(log);
  CHECK(log.problem().offset == 24);
  CHECK(parse_trainer_log(padded("{}"))->empty());
}

TEST_CASE("shard index: only plain names of files") {
  const std::string text = padded(R"({"metadata":{"total_size":3},"weight_map":{
      "b":"x.safetensors","a":"y.safetensors","c":"x.safetensors","d":"../z","e":"/z","f":"","g":"..","h":3}})");
  const auto index = parse_shard_index(text);
  REQUIRE(index);
  CHECK(index->files == std::vector<std::string>{"x.safetensors", "y.safetensors"});
  REQUIRE(index->tensors.size() == 3);
  CHECK(index->tensors[0].name == "a");
  CHECK(index->tensors[0].file == 1);
  CHECK(index->problems.kept().size() == 5);
  // A name with escapes, and names that are not in order.
  const std::string more = padded(R"({"weight_map":{"z":"x","\u0062\n":"x","a":"y","b":"x"}})");
  const auto escaped = parse_shard_index(more);
  REQUIRE(escaped);
  std::string names;
  for (const auto& tensor : escaped->tensors) {
    names += std::string(tensor.name) + escaped->files[tensor.file] + " ";
  }
  CHECK(names == "ay bx b\nx zx ");
  CHECK_FALSE(parse_shard_index(padded("{}")));
  CHECK_FALSE(parse_shard_index(padded("[]")));
  CHECK(parse_shard_index(padded(R"({"weight_map":{"a":"x","a":"y"}})"))->problems.kept().size() == 1);
  CHECK(parse_shard_index(padded(R"({"weight_map":{"a":"x"},"weight_map":{"b":"y"}})"))->files ==
        std::vector<std::string>{"y"});
}
