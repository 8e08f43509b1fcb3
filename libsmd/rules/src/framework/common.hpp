// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>
#include <smd/rule_parameter.hpp>
#include <smd/rule_result.hpp>

#include <cxxabi.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>

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

namespace smd::detail::rules {

/// Returns `gradient/conv0: abs_mean 3e-09 < threshold 1e-07`, with numbers of six digits, or of all if six do not
/// tell value and threshold apart. `bound`, such as `at most`, says that the value is a bound of the measurement.
[[nodiscard]] std::string finding_text(const Finding& finding, std::string_view bound = {});

}  // namespace smd::detail::rules

namespace smd::detail::rules {

/// Returns the name of a class without its namespace, as in the source: `MyRule`, `MyRule<int>`.
[[nodiscard]] inline std::string class_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  const std::string_view whole = demangled ? demangled.get() : type.name();
  const std::string_view plain = whole.substr(0, whole.find('<'));
  const std::size_t scope = plain.rfind("::");
  return std::string(scope == std::string_view::npos ? whole : whole.substr(scope + 2));
}

}  // namespace smd::detail::rules
