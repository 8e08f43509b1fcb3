// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_parameter.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace smd::fuzz {

/// A rule, with parameters that make it read every tensor and trigger easily.
struct AskedRule {
  std::string name;
  ParameterTexts parameters;
  std::size_t other_trials;
};

/// Returns every built-in rule. `other` is the trial for rules that compare two.
std::vector<AskedRule> every_rule(const std::string& other);

}  // namespace smd::fuzz
