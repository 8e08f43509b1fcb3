// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>
#include <smd/step.hpp>

#include <fmt/format.h>

#include <string>

namespace smd::detail::rules {

/// Returns the reference's message about a step at which a rule's condition is met.
[[nodiscard]] inline std::string condition_met_text(const std::string& rule, GlobalStep step) {
  return fmt::format("Evaluation of the rule {} at step {} resulted in the condition being met", rule, step.value);
}

[[noreturn]] inline void throw_condition_met(const std::string& rule, GlobalStep step) {
  throw RuleEvaluationConditionMet(condition_met_text(rule, step), rule, step);
}

}  // namespace smd::detail::rules
