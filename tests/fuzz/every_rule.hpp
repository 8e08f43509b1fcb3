// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_parameter.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace smd::fuzz {

/// A rule, with parameters that make it look at every tensor and fire easily.
struct AskedRule {
  std::string name;
  ParameterTexts parameters;
  std::size_t other_trials;
};

/// Every built-in rule. `other`: the trial for those that compare two.
std::vector<AskedRule> every_rule(const std::string& other);

}  // namespace smd::fuzz
