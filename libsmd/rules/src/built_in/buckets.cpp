// SPDX-License-Identifier: Apache-2.0
#include "built_in/buckets.hpp"

#include "framework/rule_run.hpp"

#include <smd/elements.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace smd::detail::rules {

namespace {

/// Each is NaN if an element is.
constexpr std::array<std::string_view, 4> of_all_elements = {"min", "max", "mean", "l2"};

}  // namespace

bool has_only_buckets(const Unit& unit) {
  return !unit.has_value() && !unit.has_reduction("abs_mean") && unit.has_reduction(saved_histogram);
}

void need_buckets(StepNeeds& step, const Unit& unit) {
  RuleAccess::context(step).want_saved_value(unit, saved_histogram);
  for (const std::string_view name : of_all_elements) {
    step.saved(unit, name);
  }
}

std::optional<double> most_abs_mean(StepView& step, const Unit& unit) {
  const TensorValue* const buckets = RuleAccess::context(step).saved_value(unit, saved_histogram);
  if (buckets == nullptr || buckets->shape().size() != 2 || buckets->shape()[1] != 3) {
    return std::nullopt;
  }
  for (const std::string_view name : of_all_elements) {
    if (std::isnan(step.saved(unit, name).value_or(0))) {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
  const double least = step.saved(unit, "min").value_or(-std::numeric_limits<double>::infinity());
  const double most = step.saved(unit, "max").value_or(std::numeric_limits<double>::infinity());
  std::vector<double> numbers(buckets->view().size());
  copy_as_doubles(buckets->view(), 0, numbers);
  double elements = 0;
  double sum = 0;
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
    const double count = numbers[i + 2];
    if (count == 0) {
      continue;  // its edges may be infinite
    }
    const auto cut = [&](double edge) { return std::abs(std::min(std::max(edge, least), most)); };
    elements += count;
    sum += count * std::max(cut(numbers[i]), cut(numbers[i + 1]));
  }
  return elements > 0 ? std::optional(sum / elements) : std::nullopt;
}

}  // namespace smd::detail::rules
