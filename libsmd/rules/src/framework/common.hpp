// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>
#include <smd/rule_parameter.hpp>

#include <cmath>
#include <optional>
#include <string_view>

/// Functions that several rules share.
namespace smd::detail::rules {

inline constexpr Reduction variance{.kind = ReductionKind::variance};

/// The parameters `collection_names` and `tensor_regex`; `help` is added to their help texts.
[[nodiscard]] ParameterSpec collection_names_parameter(std::string_view help);
[[nodiscard]] ParameterSpec tensor_regex_parameter(std::string_view help);

/// Returns the selection that these two parameters make. If neither is given, every tensor if `all_by_default`.
[[nodiscard]] TensorSelection selection_of(const Parameters& parameters, bool all_by_default);
/// @throws ConfigurationError (missing_parameter) if neither was given.
void require_selection(const Parameters& parameters);

/// The variance of a unit: the saved one, else computed of the raw value, else the saved std squared.
void need_variance(StepNeeds& step, const Unit& unit);
[[nodiscard]] std::optional<double> variance_of(const StepView& step, const Unit& unit);

/// As numpy.isclose, except that NaN is close to nothing: |a - b| <= atol + rtol |b|; equal infinities are close.
[[nodiscard]] inline bool is_close(double a, double b, double rtol, double atol) noexcept {
  return a == b || (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= atol + rtol * std::abs(b));
}

}  // namespace smd::detail::rules
