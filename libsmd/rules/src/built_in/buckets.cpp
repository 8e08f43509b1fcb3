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

/// Each of these is NaN if an element is.
constexpr std::array<std::string_view, 4> of_all_elements = {"min", "max", "mean", "l2"};
/// The number of elements, including those outside all buckets.
constexpr std::string_view number_of_elements = "num";

}  // namespace

bool has_only_buckets(const Unit& unit) {
  return !unit.has_value() && !unit.has_reduction("abs_mean") && unit.has_reduction(saved_histogram);
}

void need_buckets(StepNeeds& step, const Unit& unit) {
  RuleAccess::context(step).want_saved_value(unit, saved_histogram);
  for (const std::string_view name : of_all_elements) {
    step.saved(unit, name);
  }
  step.saved(unit, number_of_elements);
}

std::optional<AbsMeanBounds> abs_mean_bounds(StepView& step, const Unit& unit) {
  const TensorValue* const buckets = RuleAccess::context(step).saved_value(unit, saved_histogram);
  if (buckets == nullptr || buckets->shape().size() != 2 || buckets->shape()[1] != 3) {
    return std::nullopt;
  }
  for (const std::string_view name : of_all_elements) {
    if (std::isnan(step.saved(unit, name).value_or(0))) {
      return AbsMeanBounds{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    }
  }
  const double min = step.saved(unit, "min").value_or(-std::numeric_limits<double>::infinity());
  const double max = step.saved(unit, "max").value_or(std::numeric_limits<double>::infinity());
  std::vector<double> numbers(buckets->view().size());
  copy_as_doubles(buckets->view(), 0, numbers);
  double elements = 0;
  AbsMeanBounds sums;
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
    const double count = numbers[i + 2];
    if (count == 0) {
      continue;  // the edges of an empty bucket may be infinite
    }
    const double left = std::min(std::max(numbers[i], min), max);
    const double right = std::min(std::max(numbers[i + 1], min), max);
    elements += count;
    sums.least += left < 0 && right > 0 ? 0 : count * std::min(std::abs(left), std::abs(right));
    sums.most += count * std::max(std::abs(left), std::abs(right));
  }
  elements = std::max(elements, step.saved(unit, number_of_elements).value_or(0));
  return elements > 0 ? std::optional(AbsMeanBounds{sums.least / elements, sums.most / elements}) : std::nullopt;
}

}  // namespace smd::detail::rules
