// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>
#include <smd/rule_parameter.hpp>

#include <cmath>
#include <optional>
#include <string_view>

/// What several rules share.
namespace smd::detail::rules {

inline constexpr Reduction variance{.kind = ReductionKind::variance};

/// The parameters `collection_names` and `tensor_regex`; `help` says what they are for if neither is given.
[[nodiscard]] ParameterSpec collection_names_parameter(std::string_view help);
[[nodiscard]] ParameterSpec tensor_regex_parameter(std::string_view help);

/// The selection that these two make. Neither given: every tensor if `all_by_default`.
[[nodiscard]] TensorSelection selection_of(const Parameters& parameters, bool all_by_default);
/// @throws ConfigurationError (missing_parameter) if neither was given.
void require_selection(const Parameters& parameters);

/// The variance of a unit: the saved one, else computed of the raw value, else the saved std squared.
void need_variance(StepNeeds& step, const Unit& unit);
[[nodiscard]] std::optional<double> variance_of(const StepView& step, const Unit& unit);

/// numpy.isclose, but for NaN, which is close to nothing: |a - b| <= atol + rtol |b|; equal infinities are close.
[[nodiscard]] inline bool is_close(double a, double b, double rtol, double atol) noexcept {
  return a == b || (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= atol + rtol * std::abs(b));
}

}  // namespace smd::detail::rules
