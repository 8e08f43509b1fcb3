// SPDX-License-Identifier: Apache-2.0
#include <smd/rule_config.hpp>

#include "base/escape.hpp"

#include <smd/rule_registry.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace smd {

namespace {

using Json = nlohmann::ordered_json;

[[nodiscard]] bool is_wrapped(const Json& json) {
  return json.is_object() && json.contains("DebugRuleConfiguration") && json.at("DebugRuleConfiguration").is_object();
}
[[nodiscard]] bool is_configuration(const Json& json) {
  return json.is_object() && json.contains("RuleConfigurationName");
}

std::string text_of(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

[[nodiscard]] ConfigurationError bad_config(const std::string& why) {
  return {ConfigurationErrorKind::bad_config, why};
}

void read_parameters(const Json& parameters, RuleConfiguration& read) {
  for (const auto& [name, value] : parameters.items()) {
    if (!value.is_string()) {
      if (!read.error) {
        read.error.emplace(ConfigurationErrorKind::bad_value,
                           fmt::format("parameter {}: {} is not text; write it in quotes", detail::printable(name),
                                       detail::printable(value.dump(-1, ' ', false, Json::error_handler_t::replace))),
                           name);
      }
      continue;
    }
    std::string text = value.get<std::string>();
    if (name == "rule_to_invoke") {
      read.rule_to_invoke = std::move(text);
    } else if (name == "source_s3_uri") {
      read.source_s3_uri = std::move(text);
    } else if (name == "action_json") {
      read.action_json = std::move(text);
    } else {
      read.parameters[name] = std::move(text);
    }
  }
}

RuleConfiguration read_configuration(const Json& json, std::string position) {
  RuleConfiguration read;
  read.position = std::move(position);
  read.name = text_of(json, "RuleConfigurationName");
  if (read.name.empty()) {
    read.error.emplace(ConfigurationErrorKind::missing_parameter, "RuleConfigurationName is missing or no text",
                       "RuleConfigurationName");
  }
  if (const auto it = json.find("RuleParameters"); it != json.end() && it->is_object()) {
    read_parameters(*it, read);
  } else if (it != json.end() && !it->is_null() && !read.error) {
    read.error.emplace(ConfigurationErrorKind::bad_value, "RuleParameters is not an object", "RuleParameters");
  }
  if (read.rule_to_invoke.empty() && !read.error) {
    read.error.emplace(ConfigurationErrorKind::missing_parameter, "RuleParameters has no rule_to_invoke",
                       "rule_to_invoke");
  }
  return read;
}

/// In the place of an entry that is none: the others are good all the same.
RuleConfiguration no_configuration(std::string position, const std::string& why) {
  RuleConfiguration read;
  read.position = std::move(position);
  read.error = bad_config(why);
  return read;
}

/// One entry of a list.
RuleConfiguration read_entry(const Json& json, const std::string& position) {
  if (is_wrapped(json)) {
    return read_configuration(json.at("DebugRuleConfiguration"),
                              position.empty() ? "DebugRuleConfiguration" : position + ".DebugRuleConfiguration");
  }
  if (json.is_object()) {
    return read_configuration(json, position);
  }
  return no_configuration(position, "a rule configuration is an object");
}

std::vector<RuleConfiguration> read_list(const Json& list, const std::string& position) {
  std::vector<RuleConfiguration> all;
  for (std::size_t i = 0; i < list.size(); ++i) {
    all.push_back(read_entry(list[i], fmt::format("{}[{}]", position, i)));
  }
  return all;
}

std::vector<RuleConfiguration> read_document(const Json& json) {
  if (json.is_array()) {
    return read_list(json, {});
  }
  if (!json.is_object()) {
    return {};
  }
  if (const auto it = json.find("DebugRuleConfigurations"); it != json.end() && it->is_array()) {
    return read_list(*it, "DebugRuleConfigurations");
  }
  if (is_configuration(json) || is_wrapped(json)) {
    return {read_entry(json, {})};
  }
  std::vector<RuleConfiguration> all;
  if (std::any_of(json.begin(), json.end(), is_wrapped)) {
    for (const auto& [name, entry] : json.items()) {
      all.push_back(is_wrapped(entry) ? read_entry(entry, name)
                                      : no_configuration(name, "it has no object DebugRuleConfiguration"));
    }
  }
  return all;
}

}  // namespace

std::vector<RuleConfiguration> parse_rule_configurations(std::string_view json) {
  Json document;
  try {
    document = Json::parse(json);
  } catch (const Json::parse_error& error) {
    const auto before = json.substr(0, std::min<std::size_t>(error.byte == 0 ? 0 : error.byte - 1, json.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    throw bad_config(fmt::format("line {}, column {}: not JSON", line, before.size() - line_start + 1));
  } catch (const Json::out_of_range&) {
    throw bad_config("a number in it is beyond what a double can hold");
  }
  std::vector<RuleConfiguration> all = read_document(document);
  if (all.empty()) {
    throw bad_config(
        "no rule configurations: give one, a list of them, or an object with DebugRuleConfigurations, as "
        "describe-training-job prints");
  }
  return all;
}

std::unique_ptr<Rule> make_rule(const RuleConfiguration& configuration) {
  const std::string where = configuration.position.empty() ? std::string() : configuration.position + ": ";
  const auto placed = [&](const ConfigurationError& error) {
    return ConfigurationError(error.kind, where + error.what(), error.parameter, error.nearest);
  };
  if (configuration.error) {
    throw placed(*configuration.error);
  }
  if (!configuration.source_s3_uri.empty()) {
    throw ConfigurationError(
        ConfigurationErrorKind::custom_rule,
        fmt::format("{}{} is a rule in Python ({}), which is not evaluated here", where,
                    detail::printable(configuration.rule_to_invoke), detail::printable(configuration.source_s3_uri)),
        "source_s3_uri");
  }
  try {
    return make_rule(configuration.rule_to_invoke, configuration.parameters);
  } catch (const ConfigurationError& error) {
    throw placed(error);
  }
}

}  // namespace smd
