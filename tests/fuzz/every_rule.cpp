// SPDX-License-Identifier: Apache-2.0
#include "every_rule.hpp"

#include <smd/rule_registry.hpp>

#include "target.hpp"

#include <utility>

namespace smd::fuzz {

std::vector<AskedRule> every_rule(const std::string& other) {
  std::vector<AskedRule> all;
  for (const RuleDescription& rule : rule_descriptions()) {
    AskedRule asked{rule.name, {}, rule.other_trials};
    for (const ParameterSpec& parameter : rule.parameters) {
      if (parameter.type == ParameterType::pattern || parameter.type == ParameterType::pattern_list) {
        asked.parameters[parameter.name] = ".";
      }
    }
    if (rule.name == "TensorVariance") {
      asked.parameters["max_threshold"] = "0.5";
    } else if (rule.name == "Threshold") {
      asked.parameters.insert({{"reduction", "abs_mean"}, {"operator", ">="}, {"threshold", "0.5"}});
    } else if (rule.name == "SimilarAcrossRuns") {
      asked.parameters["other_trial"] = other;
    }
    // Rules that are added later are evaluated too, or must get parameters above.
    SMD_REQUIRE(make_rule(asked.name, asked.parameters) != nullptr);
    all.push_back(std::move(asked));
  }
  return all;
}

}  // namespace smd::fuzz
