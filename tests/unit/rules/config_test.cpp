// SPDX-License-Identifier: Apache-2.0
// Rule configuration documents, the table of parameters, the registry.
#include "rule_support.hpp"

#include <smd/rule_config.hpp>

#include <doctest/doctest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include <fstream>

namespace smd::test {
namespace {

std::string names(std::string_view document) {
  std::string all;
  for (const RuleConfiguration& one : parse_rule_configurations(document)) {
    all += one.name + "=" + one.rule_to_invoke + "@" + one.position + ";";
  }
  return all;
}

/// Kind, parameter and message of what is wrong with the first configuration.
std::string wrong(std::string_view document) {
  try {
    static_cast<void>(make_rule(parse_rule_configurations(document).front()));
  } catch (const ConfigurationError& error) {
    return std::string(to_string(error.kind)) + "|" + error.parameter + "|" + error.what();
  }
  return {};
}

TEST_CASE("every shape of document") {
  const std::string one = R"({"RuleConfigurationName": "n", "RuleParameters": {"rule_to_invoke": "AllZero"}})";
  const std::string wrapped = R"({"DebugRuleConfiguration": )" + one + R"(, "CollectionConfigurations": null})";
  CHECK(names(one) == "n=AllZero@;");
  CHECK(names("[" + one + "," + wrapped + "]") == "n=AllZero@[0];n=AllZero@[1].DebugRuleConfiguration;");
  CHECK(names(wrapped) == "n=AllZero@DebugRuleConfiguration;");
  CHECK(names(R"({"TrainingJobName": "j", "DebugRuleConfigurations": [)" + one + "]}") ==
        "n=AllZero@DebugRuleConfigurations[0];");
  CHECK(names("[" + one + ",42]") == "n=AllZero@[0];=@[1];");
  CHECK(names(R"({"Zero": )" + wrapped + R"(, "A": )" + wrapped + "}") ==
        "n=AllZero@Zero.DebugRuleConfiguration;n=AllZero@A.DebugRuleConfiguration;");
  CHECK(names(R"({"Zero": )" + wrapped + R"(, "A": {"DebugRuleConfiguration": 3}, "B": null})") ==
        "n=AllZero@Zero.DebugRuleConfiguration;=@A;=@B;");
}

TEST_CASE("what is no configuration is said with its place") {
  for (const char* const document :
       {"[]", "{}", "3", "null", R"({"DebugRuleConfigurations": []})", R"({"x": {"DebugRuleConfiguration": 3}})",
        R"({"ProfilerRuleConfigurations": []})"}) {
    INFO(document);
    CHECK(wrong(document).starts_with("bad_config||no rule configurations"));
  }
  CHECK(wrong("{\n \"a\": ]") == "bad_config||line 2, column 7: not JSON");
  CHECK(wrong("") == "bad_config||line 1, column 1: not JSON");
  CHECK(wrong("[1e999]") == "bad_config||a number in it is beyond what a double can hold");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK(wrong(deep) == "bad_config||objects and lists within each other 65 deep and more");
  CHECK(wrong(R"({"RuleConfigurationName": "n", "RuleParameters": {"rule_to_invoke": "AllZero", "x": )" + deep + "}}")
            .starts_with("bad_config||objects and lists within"));
  CHECK(wrong("[3]") == "bad_config||[0]: a rule configuration is an object");
  CHECK(wrong(R"({"DebugRuleConfigurations": [null]})") ==
        "bad_config||DebugRuleConfigurations[0]: a rule configuration is an object");
}

TEST_CASE("a mistake in one configuration") {
  const auto with = [](const std::string& parameters) {
    return R"([{"RuleConfigurationName": "n", "RuleParameters": )" + parameters + "}]";
  };
  CHECK(wrong(with(R"({"rule_to_invoke": "VanishingGradient", "threshold": 1})")) ==
        "bad_value|threshold|[0]: parameter threshold: 1 is not text; write it in quotes");
  CHECK(wrong(with(R"({"threshold": "1"})")) ==
        "missing_parameter|rule_to_invoke|[0]: RuleParameters has no rule_to_invoke");
  CHECK(wrong(with("3")) == "bad_value|RuleParameters|[0]: RuleParameters is not an object");
  CHECK(wrong(R"([{"RuleParameters": {"rule_to_invoke": "AllZero"}}])").starts_with("missing_parameter|"));
  CHECK(wrong(with(R"({"rule_to_invoke": "My", "source_s3_uri": "s3://b/r.py"})"))
            .starts_with("custom_rule|source_s3_uri|"));
  CHECK(wrong(with(R"({"rule_to_invoke": "vanishing_gradients"})")) ==
        "unknown_rule||[0]: no rule 'vanishing_gradients'; did you mean vanishing_gradient?");
  CHECK(wrong(with(R"({"rule_to_invoke": "VanishingGradient", "treshold": "1"})")) ==
        "unknown_parameter|treshold|[0]: no parameter 'treshold'; did you mean threshold?");
  // Overfit has a start_step of its own: it is named once.
  CHECK(wrong(with(R"({"rule_to_invoke": "Overfit", "loudness": "1"})")) ==
        "unknown_parameter|loudness|[0]: no parameter 'loudness'; there are tensor_regex, pairs, start_step, patience, "
        "ratio_threshold, end_step");
  CHECK(wrong(with(R"({"rule_to_invoke": "VanishingGradient", "action_json": "{}", "base_trial": "x"})")).empty());
}

TEST_CASE("rules that are evaluated elsewhere") {
  const std::string debug = R"({"RuleConfigurationName": "z", "RuleParameters": {"rule_to_invoke": "AllZero"}})";
  const std::string profiler = R"({"RuleConfigurationName": "p", "RuleEvaluatorImage": "i/sagemaker-debugger-rules",
      "VolumeSizeInGB": 0, "RuleParameters": {"rule_to_invoke": "ProfilerReport", "CPUBottleneck_threshold": 80}})";
  const std::string job = R"({"TrainingJobName": "j", "ProfilerRuleConfigurations": [)" + profiler +
                          R"(, {"RuleConfigurationName": "mine"}], "DebugRuleConfigurations": [)" + debug + "]}";
  CHECK(names(job) ==
        "p=ProfilerReport@ProfilerRuleConfigurations[0];mine=@ProfilerRuleConfigurations[1];"
        "z=AllZero@DebugRuleConfigurations[0];");
  CHECK(wrong(job) ==
        "unsupported_rule||ProfilerRuleConfigurations[0]: a rule of SageMaker's profiler, which is not evaluated here");
  CHECK(wrong("[" + profiler + "]") ==
        "unsupported_rule||[0]: ProfilerReport is a rule of SageMaker's profiler, which is not evaluated here");
  for (const char* const name : {"CreateXgboostReport", "create_xgboost_report"}) {
    CHECK(wrong(std::string(R"({"RuleConfigurationName": "x", "RuleParameters": {"rule_to_invoke": ")") + name +
                R"("}})") == std::string("unsupported_rule||") + name + " makes a report, which is not done here");
  }
  // What else may be wrong with them is not for us to say.
  CHECK(wrong(R"([{"RuleConfigurationName": "c", "RuleParameters": {"rule_to_invoke": "Mine", "threshold": 3,
                "source_s3_uri": "s3://b/r.py"}}])")
            .starts_with("custom_rule|source_s3_uri|[0]: Mine is a rule in Python (s3://b/r.py)"));
  CHECK(wrong(R"([{"RuleConfigurationName": "c", "RuleEvaluatorImage": "1.dkr.ecr/own:1"}])")
            .starts_with("custom_rule|RuleEvaluatorImage|[0]: the rule is in an image of its own (1.dkr.ecr/own:1)"));
  CHECK(wrong(R"([{"RuleConfigurationName": "c", "RuleEvaluatorImage": "1.dkr.ecr/sagemaker-debugger-rules:1"}])")
            .starts_with("missing_parameter|rule_to_invoke|"));
}

TEST_CASE("a job may have no rules") {
  CHECK(names(R"({"TrainingJobName": "j", "AlgorithmSpecification": {}})").empty());
  CHECK(names(R"({"TrainingJobArn": "a", "DebugRuleConfigurations": null, "ProfilerRuleConfigurations": []})").empty());
  CHECK(wrong(R"({"TrainingJobName": "j", "DebugRuleConfigurations": {}})") ==
        "bad_config||DebugRuleConfigurations: not a list");
}

TEST_CASE("a JSON list where a list is meant") {
  const auto with = [](const std::string& rule, const std::string& parameters) {
    return R"([{"RuleConfigurationName": "n", "RuleParameters": {)" + parameters + R"(, "rule_to_invoke": ")" + rule +
           R"("}}])";
  };
  const auto text = [&](const std::string& rule, const std::string& name, const std::string& list) {
    return parse_rule_configurations(with(rule, '"' + name + "\": " + list)).front().parameters.at(name);
  };
  CHECK(text("AllZero", "tensor_regex", R"(["^a", "b$"])") == "^a,b$");
  CHECK(text("AllZero", "collection_names", "[]").empty());
  CHECK(text("NLPSequenceRatio", "token_values", "[0, 2.5]") == "0,2.5");
  CHECK(wrong(with("AllZero", R"("tensor_regex": ["^a", "b$"])")).empty());
  CHECK(wrong(with("AllZero", R"("threshold": ["90"])")) ==
        "bad_value|threshold|[0]: parameter threshold: [\"90\"] is a list; it takes one value");
  CHECK(wrong(with("AllZero", R"("tensor_regex": ["a", null])")) ==
        "bad_value|tensor_regex|[0]: parameter tensor_regex: null is neither text nor a number");
  CHECK(wrong(with("AllZero", R"("tensor_regex": ["a{1,2}"])")) ==
        "bad_value|tensor_regex|[0]: parameter tensor_regex: \"a{1,2}\" has a comma, which separates the items of a "
        "list; in a pattern write \\x2c, or (x{1}|x{2}) for x{1,2}");
  CHECK(wrong(with("AllZero", R"("tensor_regx": ["a"])")).starts_with("unknown_parameter|tensor_regx|"));
}

TEST_CASE("recorded documents") {
  using Json = nlohmann::json;
  const std::string root = std::string(SMD_RECORDED_TRIALS) + "/rules/";
  std::ifstream file(root + "cases.json");
  const Json cases = Json::parse(file).at("cases");
  std::size_t documents = 0;
  for (const Json& one : cases) {
    if (!one.contains("config")) {
      continue;
    }
    ++documents;
    INFO(one.at("id").get<std::string>());
    const std::string text = read_file(root + one.at("config").get<std::string>());
    const Trial trial = Trial::open(root + one.at("trial").get<std::string>());
    Evaluator evaluator(trial, {.keep_going = true});
    for (const RuleConfiguration& configuration : parse_rule_configurations(text)) {
      try {
        evaluator.add(make_rule(configuration), configuration.name);
      } catch (const ConfigurationError& error) {
        evaluator.add_error(configuration.name, configuration.rule_to_invoke, error);
      }
    }
    evaluator.run();
    const Json& expected = one.at("expected").at("rules");
    REQUIRE(evaluator.results().size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const RuleResult& result = evaluator.results()[i];
      CHECK(result.name == expected[i].at("name").get<std::string>());
      if (result.error_kind == ConfigurationErrorKind::unknown_rule) {
        continue;  // a rule that this build lacks
      }
      CHECK(result.rule == expected[i].at("rule").get<std::string>());
      if (expected[i].contains("error")) {
        REQUIRE(result.error_kind.has_value());
        CHECK(to_string(*result.error_kind) == expected[i].at("error").at("kind").get<std::string>());
        CHECK(result.error_parameter == expected[i].at("error").at("parameter").get<std::string>());
        CHECK((result.status == RuleStatus::not_evaluated) == evaluated_elsewhere(*result.error_kind));
        continue;
      }
      CHECK(result.findings.size() == expected[i].at("fired").size());
      CHECK(result.steps_evaluated == expected[i].at("evaluated_steps").get<std::size_t>());
    }
  }
  CHECK(documents == 2);
}

TEST_CASE("texts of every type") {
  const std::vector<ParameterSpec> table = {
      {.name = "i", .type = ParameterType::integer, .default_text = "3", .at_least = 1, .not_zero = true},
      {.name = "n", .type = ParameterType::number, .at_least = 0, .at_most = 100, .exclusive = true},
      {.name = "any", .type = ParameterType::number},
      {.name = "b", .type = ParameterType::boolean},
      {.name = "l", .type = ParameterType::list},
      {.name = "p", .type = ParameterType::pattern},
      {.name = "t", .choices = {"EVAL", "TRAIN"}},
  };
  const auto parsed = [&](const ParameterTexts& texts) { return Parameters(table, texts); };
  const auto bad = [&](const std::string& name, const std::string& text) {
    try {
      static_cast<void>(parsed({{name, text}}));
    } catch (const ConfigurationError& error) {
      CHECK(error.kind == ConfigurationErrorKind::bad_value);
      CHECK(error.parameter == name);
      return true;
    }
    return false;
  };
  CHECK(parsed({}).integer("i") == 3);
  CHECK_FALSE(parsed({}).given("i"));
  CHECK(parsed({{"i", " +12 "}}).integer("i") == 12);
  CHECK(parsed({{"i", ""}}).integer("i") == 3);
  for (const char* const text : {"10.0", "1e3", "0", "-1", "x", " ", "+-1", "99999999999999999999", "None", "0x10"}) {
    INFO(text);
    CHECK(bad("i", text));
  }
  CHECK_FALSE(parsed({{"n", "None"}}).has("n"));
  CHECK(parsed({{"n", "1e-3"}}).number("n") == 0.001);
  CHECK(parsed({{"n", " .5 "}}).number("n") == 0.5);
  CHECK(parsed({{"n", "4.9e-324"}}).number("n") == 0x1p-1074);
  CHECK(parsed({{"i", "1"}, {"any", "1e-400"}}).number("any") == 0);  // as Python's float
  CHECK(parsed({{"any", "-1e400"}}).number("any") == -std::numeric_limits<double>::infinity());
  for (const char* const text : {"0", "100", "nan", "-1", "inf", "1,5", "0x1p3", "1 2"}) {
    INFO(text);
    CHECK(bad("n", text));
  }
  for (const char* const text : {"True", "1", "tRUE"}) {
    CHECK(parsed({{"b", text}}).boolean("b"));
  }
  for (const char* const text : {"False", "0", "FALSE"}) {
    CHECK_FALSE(parsed({{"b", text}}).boolean("b"));
  }
  CHECK(bad("b", "yes"));
  CHECK(parsed({{"l", " a ,, b c,"}}).list("l") == std::vector<std::string>{"a", "b c"});
  CHECK(parsed({{"p", "a,b"}}).text("p") == "a,b");
  CHECK(bad("p", "(?P<x"));
  CHECK(parsed({{"t", "eval"}}).text("t") == "EVAL");
  CHECK(bad("t", "PREDICT"));
  CHECK(parsed({{"start_step", "7"}, {"end_step", "9"}}).start_step() == 7);
  CHECK(range_text(table[0]) == ">= 1, not 0");
  CHECK(range_text(table[1]) == "0 < x < 100");
  CHECK(range_text(table[6]) == "EVAL, TRAIN, any case");
}

TEST_CASE("every rule describes itself") {
  CHECK(rule_descriptions().size() >= 11);
  for (const RuleDescription& rule : rule_descriptions()) {
    INFO(rule.name);
    CHECK_FALSE(rule.alias.empty());
    CHECK_FALSE(rule.summary.empty());
    CHECK_FALSE(rule.condition.empty());
    CHECK_FALSE(rule.frameworks.empty());
    CHECK(describe_rule(rule.alias).name == rule.name);
    for (const ParameterSpec& parameter : rule.parameters) {
      INFO(parameter.name);
      CHECK_FALSE(parameter.help.empty());
    }
  }
}

}  // namespace
}  // namespace smd::test
