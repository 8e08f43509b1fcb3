// SPDX-License-Identifier: Apache-2.0
#include "framework/elsewhere.hpp"

#include "text/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace smd::detail::rules {

namespace {

using Kind = ConfigurationErrorKind;

// In lower case, without underscores.
constexpr std::array<std::string_view, 12> profiler_rules = {
    "batchsize",          "cpubottleneck",         "dataloader",
    "gpumemoryincrease",  "iobottleneck",          "loadbalancing",
    "lowgpuutilization",  "maxinitializationtime", "overallframeworkmetrics",
    "overallsystemusage", "profilerreport",        "stepoutlier"};
constexpr std::string_view report_rule = "createxgboostreport";

std::string plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_') {
      plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return plain;
}

/// Returns whether the image is not SageMaker's: such an image contains the rule itself, so no `rule_to_invoke` names
/// it.
bool is_own_image(const std::string& image) {
  return !image.empty() && image.find("sagemaker-debugger-rule") == std::string::npos;
}

}  // namespace

std::optional<RuleDescription> known_rule(const std::string& name) {
  try {
    return describe_rule(name);
  } catch (const ConfigurationError&) {
    return std::nullopt;
  }
}

std::optional<ConfigurationError> elsewhere(const RuleConfiguration& configuration, const std::string& image) {
  const std::string name = printable(configuration.rule_to_invoke);
  const std::optional<RuleDescription> known = known_rule(configuration.rule_to_invoke);
  if (!configuration.source_s3_uri.empty() && (!known || known->plugin.empty())) {
    return ConfigurationError(Kind::custom_rule,
                              fmt::format("{} is a rule in Python ({}), which is not evaluated here", name,
                                          printable(configuration.source_s3_uri)),
                              "source_s3_uri");
  }
  if (configuration.rule_to_invoke.empty() && is_own_image(image)) {
    return ConfigurationError(
        Kind::custom_rule,
        fmt::format("the rule is in an image of its own ({}), which is not run here", printable(image)),
        "RuleEvaluatorImage");
  }
  const std::string word = plain(configuration.rule_to_invoke);
  const bool profiler = std::find(profiler_rules.begin(), profiler_rules.end(), word) != profiler_rules.end();
  if ((!profiler && word != report_rule) || known) {  // perhaps a plug-in's
    return std::nullopt;
  }
  return ConfigurationError(Kind::unsupported_rule,
                            name + (profiler ? " is a rule of SageMaker's profiler, which is not evaluated here"
                                             : " makes a report, which is not done here"));
}

}  // namespace smd::detail::rules
