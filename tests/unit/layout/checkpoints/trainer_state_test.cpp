// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/trainer_state.hpp"

#include "layout/checkpoints/shard_index.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace smd::detail::layout;

TEST_CASE("trainer state: the step that it is of") {
  CHECK(global_step_of(R"({"a":[1,{"global_step":3}],"global_step":20,"b":)") == 20);
  CHECK(global_step_of(R"({"global_step":20.0})") == 20);
  CHECK_FALSE(global_step_of(R"({"global_step":2)"));  // digits may be missing
  CHECK_FALSE(global_step_of(R"({"global_step":"20"})"));
  CHECK_FALSE(global_step_of(R"({"global_step":-1})"));
  CHECK_FALSE(global_step_of(R"({"steps":20})"));
  CHECK_FALSE(global_step_of("not JSON"));
}

TEST_CASE("trainer state: numbers of the log, named as TensorBoard shows them") {
  const auto log = parse_trainer_log(R"({"best_metric":NaN,"log_history":[
      {"loss":2.5,"epoch":1,"step":10,"note":"text","ok":true},
      {"step":20,"eval_loss":NaN,"test_accuracy":-Infinity},
      {"loss":1.5},
      {"loss":1.5,"step":2.5}]})");
  REQUIRE(log);
  std::string all;
  for (const LoggedNumber& one : log->numbers) {
    all += log->names[one.name] + "@" + std::to_string(one.step) + " ";
  }
  CHECK(all == "train/loss@10 train/epoch@10 eval/loss@20 test/accuracy@20 ");
  CHECK(log->numbers[0].value == 2.5);
  CHECK(std::isnan(log->numbers[2].value));
  CHECK(log->numbers[3].value == -HUGE_VAL);
}

TEST_CASE("trainer state: what is no JSON is reported with its place") {
  const auto log = parse_trainer_log(R"({"log_history":[{"loss":}]})");
  REQUIRE_FALSE(log);
  CHECK(log.problem().offset == 24);
  CHECK(parse_trainer_log("{}")->numbers.empty());
}

TEST_CASE("shard index: only plain names of files") {
  const auto index = parse_shard_index(R"({"metadata":{"total_size":3},"weight_map":{
      "b":"x.safetensors","a":"y.safetensors","c":"x.safetensors","d":"../z","e":"/z","f":"","g":"..","h":3}})");
  REQUIRE(index);
  CHECK(index->files == std::vector<std::string>{"x.safetensors", "y.safetensors"});
  REQUIRE(index->tensors.size() == 3);
  CHECK(index->tensors[0].name == "a");
  CHECK(index->tensors[0].file == 1);
  CHECK(index->problems.kept().size() == 5);
  // A name with escapes, and names that are not in order.
  const auto escaped = parse_shard_index(R"({"weight_map":{"z":"x","\u0062\n":"x","a":"y","b":"x"}})");
  REQUIRE(escaped);
  std::string names;
  for (const auto& tensor : escaped->tensors) {
    names += std::string(tensor.name) + escaped->files[tensor.file] + " ";
  }
  CHECK(names == "ay bx b\nx zx ");
  CHECK_FALSE(parse_shard_index("{}"));
  CHECK_FALSE(parse_shard_index("[]"));
  CHECK(parse_shard_index(R"({"weight_map":{"a":"x","a":"y"}})")->problems.kept().size() == 1);
}
