// SPDX-License-Identifier: Apache-2.0
// From rules to what must be saved for them, and back: configuration, saving, evaluating.
#include "rule_support.hpp"

#include <smd/hook.hpp>
#include <smd/hook_needs.hpp>
#include <smd/rule_config.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace smd::test {
namespace {

struct Tensor {
  std::string name;
  Shape shape;
  std::vector<float> values;
};

const std::string loss = "CrossEntropyLoss_output_0";

/// What a sick job has to save: each rule finds something in it.
std::vector<Tensor> tensors_of(Mode mode) {
  std::vector<float> labels(600, 0);
  std::fill_n(labels.begin(), 10, 1.0F);  // 590 of one class, 10 of the other
  return {
      {loss, {}, {mode == Mode::eval ? 2.0F : 1.0F}},   // stands still, and is twice as high in evaluation
      {"Net_fc.weight", {2}, {1, 2}},                   // never moves; variance 1/4
      {"gradient/Net_fc.weight", {2}, {1e-9F, 2e-9F}},  // vanishes
      {"relu_output", {4, 3}, std::vector<float>(12)},  // dead
      {"a_relu_input", {2}, {0, 1}},                    // variances 1/4 and 25:
      {"b_relu_input", {2}, {0, 10}},                   // 100 times as large
      {"x_tanh_input", {2, 2}, {20, 20, -20, -20}},     // saturated
      {"labels", {600}, labels},                        //
      {"predictions", {600}, std::vector<float>(600)},  // class 1 is always mispredicted
      {"hybridsequential0_input_0", {600, 1}, std::vector<float>(600, 1)},  // mean 1
      {"embedding0_input_0", {4}, {0, 0, 0, 7}},                            // three of four are token 0
      {"feature_importance/weight/f0", {1}, {1}},                           // has all the weight,
      {"feature_importance/gain/f0", {1}, {1}},                             // which alone counts
      {"trees/Node", {3}, {0, 1, 100}},                                     // floor(log2 100) = 6
      {"trees/Gain", {1}, {1}},                                             //
      {"exploded", {2}, {1, std::numeric_limits<float>::quiet_NaN()}},
      {"nobody_asks", {3}, {1, 2, 3}},
  };
}

/// Eight times a training step and an evaluation step, 500 apart in each mode, as a hook saves them by default.
void train(HookConfig config) {
  config.end_marker = false;
  Hook hook(std::move(config));
  for (std::int64_t i = 0; i < 16; ++i) {
    const Mode mode = i % 2 == 0 ? Mode::train : Mode::eval;
    hook.set_step(GlobalStep(500 * i), mode, ModeStep(500 * (i / 2)));
    for (const Tensor& tensor : tensors_of(mode)) {
      if (mode == Mode::eval && tensor.name.starts_with("gradient")) {
        continue;  // there are none in evaluation
      }
      hook.save_tensor(tensor.name, TensorView(Dtype::float32, tensor.shape, std::as_bytes(std::span(tensor.values))));
    }
  }
  hook.close();
}

RuleConfiguration configuration(const std::string& rule, const ParameterTexts& parameters) {
  return {.name = rule, .rule_to_invoke = rule, .parameters = parameters};
}

/// Step, mode and tensor of all findings.
std::set<std::tuple<std::int64_t, Mode, std::string>> findings(const Trial& trial, const RuleConfiguration& rule,
                                                               const Trial& other) {
  // Long after the last step: StalledTrainingRule goes by it.
  const RuleResult result = result_of(
      trial, make_rule(rule), {.keep_going = true, .now = [] { return 4e9; }},
      rule.rule_to_invoke == "SimilarAcrossRuns" ? std::vector<const Trial*>{&other} : std::vector<const Trial*>{});
  std::set<std::tuple<std::int64_t, Mode, std::string>> all;
  for (const Finding& finding : result.findings) {
    all.emplace(finding.step.value_or(GlobalStep(-1)).value, finding.mode, finding.tensor.value_or(""));
  }
  return all;
}

struct Case {
  std::string rule;
  ParameterTexts parameters;
  Texts saved;  ///< Names of the tensors that are saved, beside the loss, which a hook always saves.
  std::optional<std::string> reduced = {};  ///< Those whose names end so have one reduction and no value.
  bool in_evaluation = true;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"DeadRelu", {}, {"relu_output"}},
      {"ExplodingTensor", {}, {"*"}, ""},
      {"PoorWeightInitialization", {}, {"a_relu_input", "b_relu_input", "gradient/Net_fc.weight"}, "relu_input", false},
      {"SaturatedActivation", {}, {"x_tanh_input"}},
      {"VanishingGradient", {}, {"gradient/Net_fc.weight"}, "", false},
      // The built-in pattern of weights finds the importance too.
      {"WeightUpdateRatio", {{"num_steps", "500"}}, {"Net_fc.weight", "feature_importance/weight/f0"}, {}, false},
      {"AllZero", {{"tensor_regex", "relu_output,predictions"}}, {"predictions", "relu_output"}, ""},
      {"ClassImbalance", {}, {"labels", "predictions"}},
      {"LossNotDecreasing", {}, {}},
      {"Overfit", {}, {}},
      {"Overtraining", {}, {}},
      {"SimilarAcrossRuns", {{"other_trial", "other"}}, {"*"}},
      {"StalledTrainingRule", {}, {}},
      {"TensorVariance",
       {{"collection_names", "weights"}, {"max_threshold", "0.1"}},
       {"Net_fc.weight", "feature_importance/weight/f0"},
       ""},
      {"UnchangedTensor", {{"tensor_regex", "^Net"}}, {"Net_fc.weight"}},
      {"CheckInputImages", {}, {"hybridsequential0_input_0"}},
      {"NLPSequenceRatio", {}, {"embedding0_input_0"}},
      {"Confusion", {}, {"labels", "predictions"}},
      // Built-in collections are saved whole.
      {"FeatureImportanceOverweight", {}, {"feature_importance/weight/f0", "feature_importance/gain/f0"}},
      {"TreeDepth", {}, {"trees/Node", "trees/Gain"}},
  };
  return all;
}

TEST_CASE("what each rule needs is saved, and nothing else, and it finds what it finds in all there is") {
  const TempDir folder;
  train({.out_dir = folder / "all", .save_all = true});
  const Trial all = Trial::open(folder / "all");
  Hook hook({.out_dir = folder / "other", .save_config = SaveConfigMode{.save_interval = 1}});
  hook.set_step(GlobalStep(0), Mode::train, ModeStep(0));
  const std::vector<float> one = {3, 3};
  hook.save_tensor("Net_fc.weight", TensorView(Dtype::float32, Shape{2}, std::as_bytes(std::span(one))));
  hook.close();
  const Trial other = Trial::open(folder / "other");
  CHECK(cases().size() == 20);
  for (const Case& one_case : cases()) {
    CAPTURE(one_case.rule);
    const RuleConfiguration rule = configuration(one_case.rule, one_case.parameters);
    const std::string json = hook_config_for(std::span(&rule, 1)).to_json();
    CAPTURE(json);
    HookConfig config = HookConfig::parse(json);
    config.out_dir = folder / one_case.rule;
    train(config);
    const Trial trial = Trial::open(config.out_dir);

    std::set<std::string> expected(one_case.saved.begin(), one_case.saved.end());
    if (expected.erase("*") != 0) {
      for (const Tensor& tensor : tensors_of(Mode::train)) {
        expected.insert(tensor.name);
      }
    }
    expected.insert(loss);
    const auto names = trial.tensor_names();
    CHECK(std::set<std::string>(names.begin(), names.end()) == expected);
    trial.for_each_entry({.include_incomplete = true}, [&](const TensorEntry& entry) {
      CAPTURE(entry.tensor);
      if (entry.tensor != loss) {
        const bool reduced = one_case.reduced && entry.tensor.ends_with(*one_case.reduced);
        CHECK(entry.value.has_value() != reduced);
        CHECK(entry.reductions.size() == (reduced ? 1 : 0));
        CHECK((entry.mode == Mode::train || one_case.in_evaluation));
      }
      return true;
    });

    const auto found = findings(trial, rule, other);
    CHECK_FALSE(found.empty());
    CHECK(found == findings(all, rule, other));
  }
}

/// The collections as JSON, of rules by name.
std::string collections_for(const std::vector<RuleConfiguration>& rules, const HookConfig& job = {}) {
  return hook_config_for(rules, job).to_json();
}

TEST_CASE("the collections beside a rule are saved too, unless they can have no members") {
  const auto beside = [](const std::string& rule, const std::string& collections) {
    return hook_config_for(parse_rule_configurations(R"([{"DebugRuleConfiguration": {"RuleConfigurationName": "r",
      "RuleParameters": {"rule_to_invoke": ")" + rule +
                                                     R"("}}, "CollectionConfigurations": )" + collections + "}]"))
        .collections;
  };
  const auto own = beside("WeightUpdateRatio", R"([{"CollectionName": "mine", "CollectionParameters":
    {"include_regex": "dense.*kernel", "save_interval": "7"}}])");
  REQUIRE(own.size() == 2);
  CHECK(own[0].name == "weights");
  CHECK(own[1].name == "mine");
  CHECK(own[1].include_regex == Texts{"dense.*kernel"});
  CHECK(own[1].save_config.at(Mode::train).save_interval == 7);
  const auto slip = beside("TreeDepth", R"([{"CollectionName": "tree"}, {"CollectionName": "biases"}])");
  REQUIRE(slip.size() == 2);
  CHECK(slip[0].name == "trees");
  CHECK(slip[1].name == "biases");
}

TEST_CASE("several rules share collections, and each has what it needs") {
  const HookConfig config = hook_config_for(
      std::vector{configuration("VanishingGradient", {}), configuration("PoorWeightInitialization", {}),
                  configuration("TensorVariance", {{"collection_names", "gradients"}, {"min_threshold", "0"}})});
  REQUIRE(config.collections.size() == 3);
  CHECK(config.collections[0].name == "gradients");
  CHECK(config.collections[0].reduction_config ==
        ReductionConfig{.save_raw_tensor = true, .reductions = {"abs_mean", "variance"}});
  CHECK(config.collections[0].save_config.at(Mode::eval) == SaveConfigMode{});  // VanishingGradient evaluates it too
  CHECK(config.collections[2].name == "losses");
}

TEST_CASE("steps and members come from the document") {
  const std::string document = R"({"DebugHookConfig": {"S3OutputPath": "s3://b/p",
      "HookParameters": {"save_interval": "20"},
      "CollectionConfigurations": [
        {"CollectionName": "mine", "CollectionParameters": {"include_regex": "^my", "train.save_interval": "5"}},
        {"CollectionName": "not_needed", "CollectionParameters": {"include_regex": ".*"}}]},
    "DebugRuleConfigurations": [{"RuleConfigurationName": "z", "RuleParameters":
      {"rule_to_invoke": "AllZero", "collection_names": "mine"}}]})";
  CHECK(collections_for(parse_rule_configurations(document), HookConfig::parse(document)) == R"({
  "S3OutputPath": "s3://b/p",
  "HookParameters": {
    "save_interval": "20"
  },
  "CollectionConfigurations": [
    {
      "CollectionName": "mine",
      "CollectionParameters": {
        "include_regex": "^my",
        "reductions": "abs_max",
        "train.save_interval": "5",
        "eval.save_interval": "20",
        "predict.save_interval": "20",
        "global.save_interval": "20"
      }
    }
  ]
})");
  CHECK(collections_for(parse_rule_configurations(R"({"V": {"DebugRuleConfiguration": {"RuleConfigurationName": "v",
      "RuleParameters": {"rule_to_invoke": "VanishingGradient"}}, "CollectionConfigurations": [
      {"CollectionName": "gradients", "CollectionParameters": {"save_interval": "500"}}]}})")) == R"({
  "CollectionConfigurations": [
    {
      "CollectionName": "gradients",
      "CollectionParameters": {
        "reductions": "abs_mean",
        "save_interval": "500"
      }
    }
  ]
})");
}

TEST_CASE("of rules that are evaluated elsewhere only the document knows what they need") {
  const auto rules = [](const std::string& beside) {
    return parse_rule_configurations(R"([{"DebugRuleConfiguration": {"RuleConfigurationName": "c", "RuleParameters":
      {"rule_to_invoke": "Mine", "source_s3_uri": "s3://b/r.py"}}, "CollectionConfigurations": )" +
                                     beside + "}]");
  };
  CHECK(hook_config_for(rules(R"([{"CollectionName": "biases"}])")).collections.at(0).name == "biases");
  const HookConfig none = hook_config_for(rules("null"));
  CHECK_FALSE(none.enabled);
  CHECK(none.to_json() == "{\n  \"DebugHookConfig\": false\n}");
  CHECK_THROWS_AS((void)hook_config_for(rules(R"([{"CollectionParameters": {}}])")), ConfigurationError);
}

TEST_CASE("what cannot be known is an error") {
  const auto kind = [](const RuleConfiguration& rule) {
    try {
      static_cast<void>(hook_config_for(std::span(&rule, 1)));
    } catch (const ConfigurationError& error) {
      return std::string(to_string(error.kind)) + " " + error.parameter;
    }
    return std::string();
  };
  CHECK(kind(configuration("AllZero", {{"collection_names", "mine"}})) == "missing_parameter collection_names");
  CHECK(kind(configuration("AllZero", {})) == "missing_parameter collection_names");
  CHECK(kind(configuration("AllZer", {})) == "unknown_rule ");
  CHECK(kind(configuration("AllZero", {{"collection_names", "biases"}})).empty());
}

TEST_CASE("parameters decide what is needed") {
  const auto only = [](const std::string& rule, const ParameterTexts& parameters) {
    const RuleConfiguration one = configuration(rule, parameters);
    const HookConfig config = hook_config_for(std::span(&one, 1));
    REQUIRE(config.collections.size() == 1);
    return config.collections.front();
  };
  CHECK_FALSE(only("AllZero", {{"tensor_regex", "a"}, {"threshold", "90"}}).reduction_config);
  CHECK_FALSE(only("AllZero", {{"collection_names", "losses"}}).reduction_config);
  CHECK(only("Confusion", {{"labels", "y(true)"}, {"predictions_collection", "labels"}}).include_regex ==
        Texts{"^y\\(true\\)$", "^predictions$"});
  CHECK(only("WeightUpdateRatio", {}).save_config.size() == 2);  // the modes without
  CHECK(only("Overfit", {{"tensor_regex", "l"}}).name == "overfit");
  const ParameterTexts threshold = {{"tensor_regex", "a"}, {"operator", "<"}, {"threshold", "1"}, {"mode", "EVAL"}};
  const auto measuring = [&](const std::string& reduction) {
    ParameterTexts texts = threshold;
    texts["reduction"] = reduction;
    return only("Threshold", texts);
  };
  CHECK(measuring("abs_l2").reduction_config == ReductionConfig{.reductions = {"abs_l2"}});
  CHECK_FALSE(measuring("p99").reduction_config);
  CHECK_FALSE(measuring("median").reduction_config);
  CHECK_FALSE(measuring("mean").save_config.contains(Mode::eval));
  CHECK(measuring("mean").save_config.at(Mode::train).end_step == 0);
}

}  // namespace
}  // namespace smd::test
