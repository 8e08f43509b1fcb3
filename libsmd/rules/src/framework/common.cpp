// SPDX-License-Identifier: Apache-2.0
#include "framework/common.hpp"

#include <fmt/format.h>

#include <string>

namespace smd::detail::rules {

ParameterSpec collection_names_parameter(std::string_view help) {
  return {.name = "collection_names",
          .type = ParameterType::list,
          .help = "collections to look at" + std::string(help.empty() ? "" : "; ") + std::string(help)};
}

ParameterSpec tensor_regex_parameter(std::string_view help) {
  return {.name = "tensor_regex",
          .type = ParameterType::pattern_list,
          .help = "tensors to look at, by name" + std::string(help.empty() ? "" : "; ") + std::string(help)};
}

TensorSelection selection_of(const Parameters& parameters, bool all_by_default) {
  return {.regex = parameters.list("tensor_regex"),
          .collections = parameters.list("collection_names"),
          .all = all_by_default};
}

void require_selection(const Parameters& parameters) {
  if (parameters.list("collection_names").empty() && parameters.list("tensor_regex").empty()) {
    throw ConfigurationError(ConfigurationErrorKind::missing_parameter,
                             "say what to look at: collection_names, tensor_regex or both", "collection_names");
  }
}

void need_variance(StepNeeds& step, const Unit& unit) {
  if (unit.has_reduction("variance") || unit.has_value()) {
    step.measure(unit, variance);
  } else {
    step.saved(unit, "std");
  }
}

std::optional<double> variance_of(const StepView& step, const Unit& unit) {
  if (unit.has_reduction("variance") || unit.has_value()) {
    return step.measure(unit, variance);
  }
  const std::optional<double> deviation = step.saved(unit, "std");
  return deviation ? std::optional(*deviation * *deviation) : std::nullopt;
}

std::string finding_text(const Finding& finding, std::string_view bound) {
  std::string value = fmt::format("{:.6g}", finding.value);
  std::string threshold = fmt::format("{:.6g}", finding.threshold);
  if (value == threshold && finding.value != finding.threshold) {
    value = fmt::format("{}", finding.value);
    threshold = fmt::format("{}", finding.threshold);
  }
  return fmt::format("{}{}{}{}{} {} {} threshold {}", finding.tensor.value_or(""), finding.tensor ? ": " : "",
                     finding.check, bound.empty() ? "" : " ", bound, value, finding.relation, threshold);
}

}  // namespace smd::detail::rules
