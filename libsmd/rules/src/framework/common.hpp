// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>
#include <smd/rule_parameter.hpp>
#include <smd/rule_result.hpp>

#include <cmath>
#include <span>
#include <string>
#include <string_view>

/// Comparisons, and the findings that they make.
namespace smd::detail::rules {

/// As numpy.isclose, except that NaN is close to nothing: |a - b| <= atol + rtol |b|; equal infinities are close.
[[nodiscard]] inline bool is_close(double a, double b, double rtol, double atol) noexcept {
  return a == b || (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= atol + rtol * std::abs(b));
}

/// Returns whether a value compares so (`<`, `<=`, `>`, `>=`, `==`, `!=`) with a threshold; false for NaN.
[[nodiscard]] bool holds(double value, std::string_view relation, double threshold);

/// Returns a finding about a tensor of all workers.
[[nodiscard]] Finding finding_of(std::string_view tensor, std::string_view check, double value,
                                 std::string_view relation, double threshold);
[[nodiscard]] Finding finding_of(const Unit& unit, std::string_view check, double value, std::string_view relation,
                                 double threshold);
/// Counts a unit as evaluated, and triggers if the value compares so with the threshold.
void trigger_if(StepView& step, const Unit& unit, std::string_view check, double value, std::string_view relation,
                double threshold);

/// Returns `gradient/conv0: abs_mean 3e-09 < threshold 1e-07`, with numbers of six digits, or of all if six do not
/// tell value and threshold apart; of a NaN, `loss: decrease_percent is NaN (threshold 0.1)`. `bound`, such as `at
/// most`, says that the value is a bound of the measurement.
[[nodiscard]] std::string finding_text(const Finding& finding, std::string_view bound = {});

/// Returns the error about an unknown word, where these are `known`: `text; did you mean NEAREST?`, or `text;
/// otherwise`.
[[nodiscard]] ConfigurationError unknown_word(ConfigurationErrorKind kind, const std::string& text,
                                              std::string_view word, std::span<const std::string_view> known,
                                              const std::string& otherwise, std::string parameter);

/// Returns the reference's message about a step at which a rule's condition is met.
[[nodiscard]] std::string condition_met_text(const std::string& rule, GlobalStep step);
[[noreturn]] void throw_condition_met(const std::string& rule, GlobalStep step);

/// Returns the name of a class without its namespace, as in the source: `MyRule`, `MyRule<int>`.
[[nodiscard]] std::string class_name(const std::type_info& type);

}  // namespace smd::detail::rules
