// SPDX-License-Identifier: Apache-2.0
#include "framework/common.hpp"

#include "text/nearest.hpp"

#include <smd/evaluator.hpp>

#include <fmt/format.h>
#include <boost/core/demangle.hpp>

#include <utility>
#include <vector>

namespace smd::detail::rules {

bool holds(double value, std::string_view relation, double threshold) {
  if (std::isnan(value)) {
    return false;
  }
  if (relation == "!=") {
    return value != threshold;
  }
  return (relation.ends_with('=') && value == threshold) || (relation.starts_with('<') && value < threshold) ||
         (relation.starts_with('>') && value > threshold);
}

Finding finding_of(std::string_view tensor, std::string_view check, double value, std::string_view relation,
                   double threshold) {
  return {.tensor = std::string(tensor),
          .check = std::string(check),
          .value = value,
          .relation = std::string(relation),
          .threshold = threshold};
}

Finding finding_of(const Unit& unit, std::string_view check, double value, std::string_view relation,
                   double threshold) {
  Finding finding = finding_of(unit.tensor(), check, value, relation, threshold);
  finding.worker = std::string(unit.worker());
  return finding;
}

void trigger_if(StepView& step, const Unit& unit, std::string_view check, double value, std::string_view relation,
                double threshold) {
  step.evaluated();
  if (holds(value, relation, threshold)) {
    step.trigger(unit, check, value, relation, threshold);
  }
}

std::string finding_text(const Finding& finding, std::string_view bound) {
  std::string value = fmt::format("{:.6g}", finding.value);
  std::string threshold = fmt::format("{:.6g}", finding.threshold);
  if (value == threshold && finding.value != finding.threshold) {
    value = fmt::format("{}", finding.value);
    threshold = fmt::format("{}", finding.threshold);
  }
  const std::string what = (finding.tensor ? *finding.tensor + ": " : "") + finding.check;
  return std::isnan(finding.value) ? fmt::format("{} is NaN (threshold {})", what, threshold)
                                   : fmt::format("{}{}{} {} {} threshold {}", what, bound.empty() ? "" : " ", bound,
                                                 value, finding.relation, threshold);
}

ConfigurationError unknown_word(ConfigurationErrorKind kind, const std::string& text, std::string_view word,
                                std::span<const std::string_view> known, const std::string& otherwise,
                                std::string parameter) {
  const std::vector<std::string> near = nearest(word, known, 1);
  const std::string meant = near.empty() ? std::string() : near.front();
  return {kind, text + "; " + (near.empty() ? otherwise : "did you mean " + meant + "?"), std::move(parameter), meant};
}

std::string condition_met_text(const std::string& rule, GlobalStep step) {
  return fmt::format("Evaluation of the rule {} at step {} resulted in the condition being met", rule, step.value);
}

void throw_condition_met(const std::string& rule, GlobalStep step) {
  throw RuleEvaluationConditionMet(condition_met_text(rule, step), rule, step);
}

std::string class_name(const std::type_info& type) {
  const std::string whole = boost::core::demangle(type.name());
  const std::size_t scope = whole.rfind("::", whole.find('<'));
  return scope == std::string::npos ? whole : whole.substr(scope + 2);
}

}  // namespace smd::detail::rules
