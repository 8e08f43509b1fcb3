// SPDX-License-Identifier: Apache-2.0
#include <smd/rule_config.hpp>

#include "text/escape.hpp"
#include "text/json.hpp"
#include "text/limits.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"

#include <smd/rule_registry.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace smd {

namespace {

using Kind = ConfigurationErrorKind;
using Json = nlohmann::ordered_json;

// In lower case, without underscores.
constexpr std::array<std::string_view, 12> profiler_rules = {
    "batchsize",          "cpubottleneck",         "dataloader",
    "gpumemoryincrease",  "iobottleneck",          "loadbalancing",
    "lowgpuutilization",  "maxinitializationtime", "overallframeworkmetrics",
    "overallsystemusage", "profilerreport",        "stepoutlier"};
constexpr std::string_view report_rule = "createxgboostreport";

/// Returns the rule with this name or alias; nullopt if no rule has it.
std::optional<RuleDescription> rule_named(const std::string& name) {
  try {
    return describe_rule(name);
  } catch (const ConfigurationError&) {
    return std::nullopt;
  }
}

/// Returns why a configuration is evaluated elsewhere, whatever else is wrong with it; nullopt if it is evaluated here.
/// `image`: its RuleEvaluatorImage. One that is not SageMaker's contains the rule itself, so no `rule_to_invoke` names
/// it.
std::optional<ConfigurationError> elsewhere(const RuleConfiguration& configuration, const std::string& image) {
  const std::string name = detail::printable(configuration.rule_to_invoke);
  const std::optional<RuleDescription> known = rule_named(configuration.rule_to_invoke);
  if (!configuration.source_s3_uri.empty() && (!known || known->plugin.empty())) {
    return ConfigurationError(Kind::custom_rule,
                              fmt::format("{} is a rule in Python ({}), which is not evaluated here", name,
                                          detail::printable(configuration.source_s3_uri)),
                              "source_s3_uri");
  }
  const bool own_image = !image.empty() && image.find("sagemaker-debugger-rule") == std::string::npos;
  if (configuration.rule_to_invoke.empty() && own_image) {
    return ConfigurationError(
        Kind::custom_rule,
        fmt::format("the rule is in an image of its own ({}), which is not run here", detail::printable(image)),
        "RuleEvaluatorImage");
  }
  std::string word = detail::folded(configuration.rule_to_invoke);
  std::erase(word, '_');
  const bool profiler = detail::contains(profiler_rules, word);
  if ((!profiler && word != report_rule) || known) {  // perhaps a plug-in's
    return std::nullopt;
  }
  return ConfigurationError(Kind::unsupported_rule,
                            name + (profiler ? " is a rule of SageMaker's profiler, which is not evaluated here"
                                             : " makes a report, which is not done here"));
}

[[nodiscard]] bool is_wrapped(const Json& json) {
  return json.is_object() && json.contains("DebugRuleConfiguration") && json.at("DebugRuleConfiguration").is_object();
}

[[nodiscard]] ConfigurationError bad_config(const std::string& why) { return {Kind::bad_config, why}; }

[[nodiscard]] ConfigurationError not_json(std::string_view text, const text::JsonError& error) {
  if (error.fault == text::JsonFault::too_deep) {
    return bad_config(fmt::format("objects and lists within each other {} deep and more", limits::json_depth + 1));
  }
  if (error.fault == text::JsonFault::number) {
    return bad_config("a number in it is beyond what a double can hold");
  }
  const std::string_view before = text.substr(0, static_cast<std::size_t>(error.offset));
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return bad_config(fmt::format("line {}, column {}: not JSON", line, before.size() - line_start + 1));
}

/// Returns whether a rule takes a list for a parameter; true for unknown rules and parameters, which are reported
/// elsewhere.
[[nodiscard]] bool takes_list(const std::optional<RuleDescription>& rule, const std::string& name) {
  if (!rule) {
    return true;
  }
  const auto spec = std::ranges::find_if(
      rule->parameters, [&](const ParameterSpec& one) { return one.name == name || one.other_name == name; });
  return spec == rule->parameters.end() || spec->type == ParameterType::list ||
         spec->type == ParameterType::number_list || spec->type == ParameterType::pattern_list;
}

[[nodiscard]] ConfigurationError bad_value(const std::string& name, const Json& value, const char* why) {
  return {
      Kind::bad_value,
      fmt::format("parameter {}: {} {}", detail::printable(name), detail::printable(text::json_excerpt(value)), why),
      name};
}

/// Returns the parameter text for a JSON list.
[[nodiscard]] std::string list_text(const Json& list, const std::string& name) {
  std::string text;
  for (const Json& item : list) {
    if (!item.is_string() && !item.is_number()) {
      throw bad_value(name, item, "is neither text nor a number");
    }
    const std::string one = item.is_string() ? item.get<std::string>() : item.dump();
    if (one.find(',') != std::string::npos) {
      throw bad_value(name, item,
                      "has a comma, which separates the items of a list; in a pattern write \\x2c, or (x{1}|x{2}) for "
                      "x{1,2}");
    }
    text += (text.empty() ? "" : ",") + one;
  }
  return text;
}

[[nodiscard]] std::string parameter_text(const Json& value, const std::string& name,
                                         const std::optional<RuleDescription>& rule) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  const bool list = value.is_array();
  if (list && takes_list(rule, name)) {
    return list_text(value, name);
  }
  throw bad_value(name, value, list ? "is a list; it takes one value" : "is not text; write it in quotes");
}

void read_parameters(const Json& parameters, RuleConfiguration& read) {
  read.rule_to_invoke = text::member_text(parameters, "rule_to_invoke");
  read.source_s3_uri = text::member_text(parameters, "source_s3_uri");
  read.action_json = text::member_text(parameters, "action_json");
  const std::optional<RuleDescription> rule = rule_named(read.rule_to_invoke);
  for (const auto& [name, value] : parameters.items()) {
    try {
      std::string text = parameter_text(value, name, rule);
      if (name != "rule_to_invoke" && name != "source_s3_uri" && name != "action_json") {
        read.parameters[name] = std::move(text);
      }
    } catch (const ConfigurationError& error) {
      if (!read.error) {
        read.error = error;
      }
    }
  }
}

RuleConfiguration read_configuration(const Json& json, std::string position) {
  RuleConfiguration read;
  read.position = std::move(position);
  read.name = text::member_text(json, "RuleConfigurationName");
  if (read.name.empty()) {
    read.error.emplace(Kind::missing_parameter, "RuleConfigurationName is missing or no text", "RuleConfigurationName");
  }
  if (const auto it = json.find("RuleParameters"); it != json.end() && it->is_object()) {
    read_parameters(*it, read);
  } else if (it != json.end() && !it->is_null() && !read.error) {
    read.error.emplace(Kind::bad_value, "RuleParameters is not an object", "RuleParameters");
  }
  if (auto why = elsewhere(read, text::member_text(json, "RuleEvaluatorImage"))) {
    read.error = std::move(why);
  } else if (read.rule_to_invoke.empty() && !read.error) {
    read.error.emplace(Kind::missing_parameter, "RuleParameters has no rule_to_invoke", "rule_to_invoke");
  }
  return read;
}

/// Returns a configuration that holds the error of an invalid entry, so that the others are still read.
RuleConfiguration no_configuration(std::string position, const std::string& why) {
  RuleConfiguration read;
  read.position = std::move(position);
  read.error = bad_config(why);
  return read;
}

/// Reads one entry of a list.
RuleConfiguration read_entry(const Json& json, const std::string& position) {
  if (is_wrapped(json)) {
    RuleConfiguration read =
        read_configuration(json.at("DebugRuleConfiguration"),
                           position.empty() ? "DebugRuleConfiguration" : position + ".DebugRuleConfiguration");
    if (const auto beside = json.find("CollectionConfigurations"); beside != json.end() && !beside->is_null()) {
      read.collection_configurations = text::json_text(*beside);
    }
    return read;
  }
  if (json.is_object()) {
    return read_configuration(json, position);
  }
  return no_configuration(position, "a rule configuration is an object");
}

/// Reads the entries of a list at `position`. If it is a list of the profiler's rules, none is evaluated, whatever rule
/// it names.
void read_list(const Json& list, const std::string& position, std::vector<RuleConfiguration>& all,
               bool profiler = false) {
  if (!list.is_array()) {
    all.push_back(no_configuration(position, "not a list"));
    return;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    RuleConfiguration& read = all.emplace_back(read_entry(list[i], fmt::format("{}[{}]", position, i)));
    if (profiler && list[i].is_object()) {
      read.error.emplace(Kind::unsupported_rule, "a rule of SageMaker's profiler, which is not evaluated here");
    }
  }
}

/// Returns whether the document is known to be a job, which may have no rules.
[[nodiscard]] bool is_job(const Json& json) {
  constexpr std::array<const char*, 4> keys = {"TrainingJobName", "TrainingJobArn", "AlgorithmSpecification",
                                               "DebugHookConfig"};
  return json.is_object() && std::ranges::any_of(keys, [&](const char* key) { return json.contains(key); });
}

std::vector<RuleConfiguration> read_document(const Json& json) {
  std::vector<RuleConfiguration> all;
  if (json.is_array()) {
    read_list(json, {}, all);
  } else if (is_job(json) || json.contains("DebugRuleConfigurations") || json.contains("ProfilerRuleConfigurations")) {
    for (const auto& [key, list] : json.items()) {  // in the order of the two lists
      const bool profiler = key == "ProfilerRuleConfigurations";
      if ((profiler || key == "DebugRuleConfigurations") && !list.is_null()) {
        read_list(list, key, all, profiler);
      }
    }
  } else if (json.contains("RuleConfigurationName") || is_wrapped(json)) {
    all.push_back(read_entry(json, {}));
  } else if (std::ranges::any_of(json, is_wrapped)) {
    for (const auto& [name, entry] : json.items()) {
      const std::string position = text::excerpt(name);
      all.push_back(is_wrapped(entry) ? read_entry(entry, position)
                                      : no_configuration(position, "it has no object DebugRuleConfiguration"));
    }
  }
  return all;
}

}  // namespace

std::vector<RuleConfiguration> parse_rule_configurations(std::string_view json) {
  text::JsonDocument<Json> parsed;
  if (const auto error = text::parse_json(json, parsed)) {
    throw not_json(json, *error);
  }
  std::vector<RuleConfiguration> all = read_document(*parsed);
  if (all.empty() && !is_job(*parsed)) {
    throw bad_config(
        "no rule configurations: give one, a list of them, or an object with DebugRuleConfigurations, as "
        "describe-training-job prints");
  }
  return all;
}

std::unique_ptr<Rule> make_rule(const RuleConfiguration& configuration) {
  const std::string where = configuration.position.empty() ? std::string() : configuration.position + ": ";
  try {
    if (configuration.error) {
      throw ConfigurationError(*configuration.error);
    }
    if (const auto why = elsewhere(configuration, {})) {
      throw ConfigurationError(*why);
    }
    return make_rule(configuration.rule_to_invoke, configuration.parameters);
  } catch (const ConfigurationError& error) {
    throw ConfigurationError(error.kind, where + error.what(), error.parameter, error.nearest);
  }
}

}  // namespace smd
