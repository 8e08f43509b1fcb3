// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/hook_config.hpp>

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace smd {
namespace {

using Texts = std::vector<std::string>;

// The example in the reference's json_config.py, in the documentation's form: values as text.
constexpr std::string_view example = R"({
  "S3OutputPath": "s3://bucket/prefix",
  "LocalPath": "/tmp/trial",
  "HookParameters": {
    "export_tensorboard": "true",
    "tensorboard_dir": "/tmp/tensorboard",
    "save_all": "False",
    "include_regex": "regexe1, regex2",
    "save_interval": "100",
    "save_steps": "1,2,3,4",
    "start_step": 1,
    "eval.save_interval": "20",
    "reductions": "min,max,mean,std,abs_variance,abs_sum,abs_l2_norm"
  },
  "CollectionConfigurations": [
    {"CollectionName": "one",
     "CollectionParameters": {"include_regex": "regexe5*", "save_interval": 7, "save_steps": [8, "9"],
                              "reductions": "min,abs_max,l1_norm,abs_l2_norm"}},
    {"CollectionName": "two",
     "CollectionParameters": {"include_regex": ["a{1,3}", "b"], "train.save_interval": "50", "eval.end_step": 3,
                              "save_raw_tensor": true}},
    {"CollectionName": "gradients", "CollectionParameters": null}
  ]
})";

TEST_CASE("the documented example") {
  const HookConfig config = HookConfig::parse(example);
  CHECK(config.out_dir == "/tmp/trial");
  CHECK(config.export_tensorboard);
  CHECK(config.tensorboard_dir == "/tmp/tensorboard");
  CHECK_FALSE(config.save_all);
  CHECK(config.include_regex == Texts{"regexe1", "regex2"});
  const SaveConfigMode base{.save_interval = 100, .save_steps = {1, 2, 3, 4}, .start_step = 1};
  CHECK(config.save_config.mode(Mode::train) == base);
  CHECK(config.save_config.mode(Mode::global) == base);
  CHECK(config.save_config.mode(Mode::eval) ==
        SaveConfigMode{.save_interval = 20, .save_steps = {1, 2, 3, 4}, .start_step = 1});
  CHECK(config.reduction_config->reductions == Texts{"min", "max", "mean", "std", "abs_variance", "abs_sum", "abs_l2"});
  CHECK_FALSE(config.reduction_config->save_raw_tensor);
  REQUIRE(config.collections.size() == 3);

  const CollectionConfig& one = config.collections[0];
  CHECK(one.include_regex == Texts{"regexe5*"});
  CHECK(one.reduction_config->reductions == Texts{"min", "abs_max", "l1", "abs_l2"});
  // A collection goes before the hook, even where the hook names the mode.
  CHECK(one.save_config.at(Mode::eval) == SaveConfigMode{.save_interval = 7, .save_steps = {8, 9}, .start_step = 1});

  const CollectionConfig& two = config.collections[1];
  CHECK(two.include_regex == Texts{"a{1,3}", "b"});
  CHECK(two.save_config.at(Mode::train).save_interval == 50);
  CHECK(two.save_config.at(Mode::predict).save_interval == 100);
  CHECK(two.save_config.at(Mode::eval) ==
        SaveConfigMode{.save_interval = 20, .save_steps = {1, 2, 3, 4}, .start_step = 1, .end_step = 3});
  CHECK(two.reduction_config == ReductionConfig{.save_raw_tensor = true});
  CHECK_FALSE(config.collections[2].reduction_config);
}

TEST_CASE("a CreateTrainingJob request") {
  const HookConfig config = HookConfig::parse(R"({"TrainingJobName": "j", "AlgorithmSpecification": {},
    "DebugHookConfig": {"S3OutputPath": "s3://b/p", "HookParameters": {"save_interval": "3"},
      "CollectionConfigurations": [{"CollectionName": "weights"}]},
    "TensorBoardOutputConfig": {"LocalPath": "/opt/tb", "S3OutputPath": "s3://b/tb"}})");
  CHECK(config.enabled);
  CHECK(config.out_dir == "s3://b/p");  // nothing else says where
  CHECK(config.save_config.mode(Mode::train).save_interval == 3);
  CHECK(config.collections.at(0).name == "weights");
  CHECK(config.export_tensorboard);
  CHECK(config.tensorboard_dir == "/opt/tb");
}

TEST_CASE("a job without DebugHookConfig has a hook that saves nothing") {
  for (
      const char* const job :
      {R"({"DebugHookConfig": null})", R"({"DebugHookConfig": false})",
       R"({"TrainingJobName": "j", "AlgorithmSpecification": {}, "OutputDataConfig": {}})",
       R"({"TrainingJobArn": "arn", "TensorBoardOutputConfig": {"LocalPath": "/opt/tb"}})",
       R"({"DebugRuleConfigurations": [{"RuleConfigurationName": "n", "RuleParameters": {"rule_to_invoke": "AllZero"}}]})"}) {
    CAPTURE(job);
    CHECK_FALSE(HookConfig::parse(job).enabled);
  }
  CHECK_THROWS_AS((void)HookConfig::parse(R"({"DebugHookConfig": true})"), InvalidArgument);
}

TEST_CASE("collections that stand beside rules are saved") {
  const std::string one = R"({"DebugRuleConfiguration": {"RuleConfigurationName": "a"}, "CollectionConfigurations": [
      {"CollectionName": "gradients", "CollectionParameters": {"save_interval": "500"}}]})";
  const std::string other = R"({"DebugRuleConfiguration": {"RuleConfigurationName": "b"}, "CollectionConfigurations": [
      {"CollectionName": "gradients", "CollectionParameters": {"save_interval": "20", "reductions": "abs_mean"}},
      {"CollectionName": "relu_output", "CollectionParameters": {"include_regex": ".*relu_output"}}]})";
  const std::string without = R"({"DebugRuleConfiguration": {"RuleConfigurationName": "c"}})";
  for (const std::string& document :
       {"[" + one + "," + other + "," + without + "]", R"({"A": )" + one + R"(, "B": )" + other + "}",
        R"({"DebugRuleConfigurations": [)" + one + "," + other + "]}"}) {
    CAPTURE(document);
    const HookConfig config = HookConfig::parse(document);
    CHECK(config.enabled);
    REQUIRE(config.collections.size() == 2);
    CHECK(config.collections[0].name == "gradients");
    CHECK(config.collections[0].save_config.at(Mode::train).save_interval == 20);  // of 500 and 20
    CHECK(config.collections[0].reduction_config ==
          ReductionConfig{.save_raw_tensor = true, .reductions = {"abs_mean"}});
    CHECK(config.collections[1].include_regex == Texts{".*relu_output"});
  }
  CHECK(HookConfig::parse(one).collections.at(0).name == "gradients");
  CHECK_THROWS_WITH_AS((void)HookConfig::parse("[" + without + "]", "r.json"),
                       "r.json: rules that do not say what to save; smd-rule --hook-config -C FILE does",
                       InvalidArgument);
}

TEST_CASE("who saves, and whether anything is written") {
  const auto hook = [](const std::string& parameters) {
    return HookConfig::parse(R"({"HookParameters": {)" + parameters + "}}");
  };
  CHECK(hook(R"("include_workers": "one")").include_workers == IncludeWorkers::one);
  CHECK(hook(R"("include_workers": "all")").include_workers == IncludeWorkers::all);
  CHECK(hook("").include_workers == IncludeWorkers::all);
  CHECK_THROWS_WITH_AS((void)hook(R"("include_workers": "two")"),
                       "configuration: HookParameters: include_workers is neither one nor all: 'two'", InvalidArgument);
  CHECK(hook(R"("dry_run": "True")").dry_run);
  CHECK(hook(R"("save_histogram": "false")").save_histogram == false);
  CHECK_FALSE(hook("").save_histogram);
}

TEST_CASE("S3OutputPath is where to save if nothing else says so") {
  CHECK(HookConfig::parse(R"({"S3OutputPath": "s3://b/p", "LocalPath": "/x"})").out_dir == "/x");
  CHECK(HookConfig::parse(R"({"S3Path": "s3://b/p"})").out_dir == "s3://b/p");
  const test::TempDir folder;
  const std::string path = folder.write("hook.json", R"({"S3OutputPath": "s3://b/p"})");
  setenv("SMDEBUG_CONFIG_FILE_PATH", path.c_str(), 1);
  const auto outside = HookConfig::from_environment();
  setenv("TRAINING_JOB_NAME", "job", 1);
  const auto inside = HookConfig::from_environment();
  unsetenv("TRAINING_JOB_NAME");
  unsetenv("SMDEBUG_CONFIG_FILE_PATH");
  REQUIRE(outside);
  CHECK(outside->out_dir == "s3://b/p");
  REQUIRE(inside);
  CHECK(inside->out_dir == "/opt/ml/output/tensors");
}

TEST_CASE("nothing said: defaults, also where null stands") {
  CHECK(HookConfig::parse("{}").save_config.mode(Mode::train).save_interval == 500);
  CHECK(HookConfig::parse(R"({"HookParameters": null, "CollectionConfigurations": null})").collections.empty());
  CHECK(HookConfig::parse("{}", "x", Framework::xgboost).save_config.mode(Mode::global).save_interval == 10);
  CHECK_FALSE(HookConfig::parse("{}").reduction_config);
}

// As in the reference's json_config.py: absent, null and false are not the same as nothing said in a program.
TEST_CASE("a configuration that selects nothing saves what the framework always saves") {
  const Texts losses = {"losses"};
  for (const char* const json :
       {"{}", R"({"LocalPath": "/x"})", R"({"HookParameters": {"save_all": false}})",
        R"({"HookParameters": {"save_all": "False"}})", R"({"CollectionConfigurations": []})",
        R"({"CollectionConfigurations": null})", R"({"HookParameters": {"save_all": null, "include_regex": null}})",
        R"({"HookParameters": {"include_regex": ""}})"}) {
    CAPTURE(json);
    CHECK(HookConfig::parse(json).include_collections == losses);
    CHECK(HookConfig::parse(json, "x", Framework::xgboost).include_collections == Texts{"losses", "metrics"});
  }
  CHECK(HookConfig::parse(R"({"HookParameters": {"save_all": 1}})").include_collections.empty());
  // A program that configures nothing saves all that it is given, and so does what it writes as JSON.
  CHECK(HookConfig::parse(HookConfig().to_json()).save_all);
}

TEST_CASE("a key whose value is null counts as missing, known or not") {
  const HookConfig config = HookConfig::parse(R"({"S3OutputPath": "s3://b", "LocalPath": "/opt/t",
    "HookParameters": {"save_interval": null, "reductions": null, "save_raw_tensor": null, "future": null},
    "CollectionConfigurations": [{"CollectionName": "weights", "CollectionParameters": null},
      {"CollectionName": "losses", "CollectionParameters": {"include_regex": null, "save_steps": null}}],
    "DebugHookSpecification": null})");
  CHECK(config.out_dir == "/opt/t");
  CHECK(config.save_config.mode(Mode::train) == SaveConfigMode{});
  CHECK_FALSE(config.reduction_config);
  REQUIRE(config.collections.size() == 2);
  CHECK(config.collections[1] == CollectionConfig{.name = "losses"});
  CHECK_THROWS_AS((void)HookConfig::parse(R"({"DebugHookSpecification": {}})"), InvalidArgument);
}

// The reference's test_hook_from_json_config_full.json.
TEST_CASE("of two collections of one name the later has the last word; patterns add up") {
  const HookConfig config = HookConfig::parse(R"({"HookParameters": {"save_all": false, "save_steps": "0,1,2,3"},
    "CollectionConfigurations": [
      {"CollectionName": "Relu", "CollectionParameters": {"include_regex": "a", "reductions": "max", "save_interval": 2,
                                                          "save_histogram": false}},
      {"CollectionName": "weights"},
      {"CollectionName": "Relu", "CollectionParameters": {"include_regex": "relu*,input_*", "save_steps": "4,5,6"}}]})");
  REQUIRE(config.collections.size() == 2);
  const CollectionConfig& relu = config.collections[0];
  CHECK(relu.include_regex == Texts{"a", "relu*", "input_*"});
  CHECK(relu.save_config.at(Mode::train) == SaveConfigMode{.save_steps = {4, 5, 6}});
  CHECK(relu.reduction_config == ReductionConfig{.reductions = {"max"}});
  CHECK(relu.save_histogram == false);
  const HookConfig reset = HookConfig::parse(R"({"CollectionConfigurations": [
    {"CollectionName": "weights", "CollectionParameters": {"save_interval": 2}}, {"CollectionName": "weights"}]})");
  CHECK(reset.collections.at(0).save_config.empty());  // the hook's
}

TEST_CASE("in SageMaker only TensorBoard's own file turns it on") {
  const test::TempDir folder;
  const std::string hook = folder.write(
      "hook.json",
      R"({"LocalPath": "/x", "HookParameters": {"export_tensorboard": "true", "tensorboard_dir": "/tb"}})");
  const std::string board = folder.write("board.json", R"({"LocalPath": "/board"})");
  const auto from = [&](const std::string& file, const char* job) {
    setenv("SMDEBUG_CONFIG_FILE_PATH", hook.c_str(), 1);
    setenv("TENSORBOARD_CONFIG_FILE_PATH", file.c_str(), 1);
    if (job != nullptr) {
      setenv("TRAINING_JOB_NAME", job, 1);
    }
    const auto config = HookConfig::from_environment();
    unsetenv("TRAINING_JOB_NAME");
    unsetenv("TENSORBOARD_CONFIG_FILE_PATH");
    unsetenv("SMDEBUG_CONFIG_FILE_PATH");
    REQUIRE(config);
    return config->export_tensorboard ? config->tensorboard_dir : "off";
  };
  CHECK(from(folder / "missing.json", "job") == "off");
  CHECK(from(board, "job") == "/board");
  CHECK(from(folder / "missing.json", nullptr) == "/tb");
  CHECK(from(board, nullptr) == "/board");
}

TEST_CASE("what cannot be understood is named") {
  const auto says = [](std::string_view json, const std::string& text) {
    CAPTURE(json);
    try {
      (void)HookConfig::parse(json, "h.json");
      FAIL("accepted");
    } catch (const InvalidArgument& error) {
      CHECK(std::string(error.what()) == text);
    }
  };
  says(R"({"HookParameters": {"save_intervall": 3}})",
       "h.json: HookParameters: unknown key 'save_intervall'; did you mean 'save_interval'?");
  says(R"({"HookParameters": {"trian.save_interval": 3}})",
       "h.json: HookParameters: unknown key 'trian.save_interval'; did you mean 'train.save_interval'?");
  says(R"({"HookParamters": {}})", "h.json: unknown key 'HookParamters'; did you mean 'HookParameters'?");
  says(R"({"HookParameters": {"save_interval": "ten"}})",
       "h.json: HookParameters: save_interval is not a whole number: \"ten\"");
  says(R"({"HookParameters": {"save_interval": 0}})", "h.json: HookParameters: save_interval is 0, not 1 or more");
  says(R"({"HookParameters": {"save_interval": 1.5}})",
       "h.json: HookParameters: save_interval is not a whole number: 1.5");
  says(R"({"HookParameters": {"save_steps": "1,x"}})",
       "h.json: HookParameters: save_steps is not a whole number: \"x\"");
  says(R"({"HookParameters": {"save_all": "yes"}})",
       "h.json: HookParameters: save_all is neither true nor false: \"yes\"");
  says(R"({"HookParameters": {"reductions": "varience"}})",
       "h.json: HookParameters: reductions: 'varience' is not a reduction that can be saved; did you mean 'variance'?");
  says(R"({"CollectionConfigurations": [{"CollectionName": "w", "CollectionParameters": {"include_regx": "a"}}]})",
       "h.json: CollectionConfigurations[0]: 'w': unknown key 'include_regx'; did you mean 'include_regex'?");
  says(R"({"CollectionConfigurations": [{}]})", "h.json: CollectionConfigurations[0]: there is no CollectionName");
  says(R"({"CollectionConfigurations": {}})", "h.json: CollectionConfigurations is not a list");
  says(R"({"LocalPath": 3})", "h.json: LocalPath is not a text");
  says("[]", "h.json: not a JSON object");
  CHECK_THROWS_AS((void)HookConfig::parse("{\"a\": "), InvalidArgument);
  CHECK_THROWS_AS((void)HookConfig::parse(""), InvalidArgument);
  CHECK_THROWS_AS((void)HookConfig::parse(std::string(100'000, '[')), InvalidArgument);
}

TEST_CASE("from the environment") {
  const test::TempDir folder;
  const std::string path = folder.write("hook.json", R"({"LocalPath": "/x", "HookParameters": {"save_interval": 2}})");
  const std::string board = folder.write("board.json", R"({"LocalPath": "/board"})");
  setenv("SMDEBUG_CONFIG_FILE_PATH", path.c_str(), 1);
  setenv("TENSORBOARD_CONFIG_FILE_PATH", board.c_str(), 1);
  const auto config = HookConfig::from_environment();
  setenv("SMDEBUG_CONFIG_FILE_PATH", (folder / "missing.json").c_str(), 1);
  CHECK_THROWS_AS((void)HookConfig::from_environment(), ReadError);
  unsetenv("SMDEBUG_CONFIG_FILE_PATH");
  unsetenv("TENSORBOARD_CONFIG_FILE_PATH");
  REQUIRE(config);
  CHECK(config->out_dir == "/x");
  CHECK(config->save_config.mode(Mode::eval).save_interval == 2);
  CHECK(config->export_tensorboard);
  CHECK(config->tensorboard_dir == "/board");
}

TEST_CASE("built-in collections") {
  const auto pytorch = stock_collections(Framework::pytorch);
  CHECK(pytorch.size() == 6);
  CHECK(pytorch.at("losses").include_regex == Texts{"[Ll]oss_(?!input).*output"});
  const auto xgboost = stock_collections(Framework::xgboost);
  CHECK(xgboost.at("losses").include_regex == Texts{"^[a-zA-z]+-.+(?<!(auc|map))$"});
  CHECK(xgboost.at("trees").include_regex == Texts{"^trees/.*"});
  CHECK(stock_collections(Framework::tensorflow).contains("optimizer_variables"));
  CHECK(stock_collections(Framework::mxnet).at("gradients").include_regex == Texts{"^gradient"});
  CHECK(is_built_in_collection("losses"));
  CHECK(is_built_in_collection("trees"));
  CHECK_FALSE(is_built_in_collection("relu_output"));
}

}  // namespace
}  // namespace smd
