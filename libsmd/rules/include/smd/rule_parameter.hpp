// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>
#include <smd/export.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd {

/// What is wrong with a rule, mostly before any data is read.
enum class ConfigurationErrorKind : std::uint8_t {
  unknown_rule,
  unknown_parameter,
  bad_value,
  missing_parameter,
  bad_config,        ///< A document without rule configurations.
  bad_trial,         ///< The base trial or another trial is not a trial.
  custom_rule,       ///< A rule in Python or in an image of its own, which the library does not evaluate.
  unsupported_rule,  ///< A rule of SageMaker's profiler, or one that makes a report, which the library does not
                     ///< evaluate.
  exception,         ///< A rule of the user's own raised an exception, or could not be started.
};

/// Returns whether the kind means that the rule is evaluated elsewhere. The configuration is then no mistake: its
/// result is NotEvaluated, not Error.
[[nodiscard]] constexpr bool evaluated_elsewhere(ConfigurationErrorKind kind) noexcept {
  return kind == ConfigurationErrorKind::custom_rule || kind == ConfigurationErrorKind::unsupported_rule;
}

/// Returns `unknown_rule`, `bad_value`, ….
[[nodiscard]] SMD_EXPORT std::string_view to_string(ConfigurationErrorKind kind) noexcept;

/// A rule cannot be evaluated as it is configured. `what()` names the parameter, its text and what would be valid.
class SMD_EXPORT ConfigurationError : public Error {
 public:
  ConfigurationError(ConfigurationErrorKind in_kind, const std::string& message, std::string in_parameter = {},
                     std::string in_nearest = {})
      : Error("Usage", message), kind(in_kind), parameter(std::move(in_parameter)), nearest(std::move(in_nearest)) {}
  ~ConfigurationError() override;

  ConfigurationErrorKind kind;
  std::string parameter;  ///< Empty if it concerns no single one.
  std::string nearest;    ///< The rule or parameter that may have been meant; may be empty.
};

enum class ParameterType : std::uint8_t {
  integer,       ///< Optional sign and digits; may have blanks around it.
  number,        ///< Decimal or exponent form, or `inf`, `infinity`; not `nan`.
  boolean,       ///< `True`, `False`, `1`, `0`, any case.
  list,          ///< Split at commas; blanks around items and empty items are dropped.
  number_list,   ///< A list of numbers.
  pattern_list,  ///< A list of patterns, each found anywhere in a name as by Python's `re.search`.
  pattern,       ///< One pattern, taken whole.
  text,          ///< Taken whole.
};

/// Returns `Integer`, `Float`, `Boolean`, `List`, `List of Float`, `List of patterns`, `Pattern`, `Text`.
[[nodiscard]] SMD_EXPORT std::string_view to_string(ParameterType type) noexcept;

/// One parameter of a rule, as data: parsing, errors, help and documentation all use it.
struct ParameterSpec {
  std::string name = {};
  ParameterType type = ParameterType::text;
  std::optional<std::string> default_text = {};  ///< Nullopt: no value by default; the text `None` then means no value.
  std::string help = {};
  bool required = false;
  // Of integers and numbers (each of a list):
  double at_least = -std::numeric_limits<double>::infinity();
  double at_most = std::numeric_limits<double>::infinity();
  bool exclusive = false;  ///< The bounds themselves are not valid.
  bool not_zero = false;
  std::vector<std::string> choices = {};  ///< Of texts: only these, in any case; kept as spelled here.
  std::string other_name = {};            ///< Another name that is accepted.
};

/// Returns what the type alone does not say about valid values: `>= 1`, `0 … 100`, `one of EVAL, TRAIN`; empty if all
/// are valid.
[[nodiscard]] SMD_EXPORT std::string range_text(const ParameterSpec& spec);

/// Names and texts of parameters, as they were given.
using ParameterTexts = std::map<std::string, std::string>;

/// A rule's parameters, parsed. A value; safe to read from many threads.
class SMD_EXPORT Parameters {
 public:
  Parameters() = default;
  /// Parses `given` according to the table `specs`. Also accepts what every rule accepts (`base_trial`,
  /// `rule_to_invoke`, `action_json`, `start_step`, `end_step`). @throws ConfigurationError.
  Parameters(std::span<const ParameterSpec> specs, const ParameterTexts& given);

  /// Returns whether there is a value, given or by default.
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  /// Returns whether the value was given, and not as a text that means the default.
  [[nodiscard]] bool given(std::string_view name) const noexcept;
  // These return the value; without one 0, false or empty. Precondition: the table has the name with that type.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;               ///< Also for patterns.
  [[nodiscard]] const std::vector<std::string>& list(std::string_view name) const;  ///< Also for lists of patterns.
  [[nodiscard]] const std::vector<double>& numbers(std::string_view name) const;

  /// Returns the rule's own parameters with the texts in effect (nullopt: no value), in the table's order.
  [[nodiscard]] std::vector<std::pair<std::string, std::optional<std::string>>> effective() const;
  /// These return `start_step` and `end_step` as bounds of the evaluation; nullopt if not given, or if the rule has
  /// such a parameter of its own.
  [[nodiscard]] std::optional<std::int64_t> start_step() const noexcept { return start_step_; }
  [[nodiscard]] std::optional<std::int64_t> end_step() const noexcept { return end_step_; }

 private:
  struct Value {
    std::string name;
    std::optional<std::string> text;
    bool given = false;
    std::int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    std::vector<std::string> list;
    std::vector<double> numbers;
  };
  friend class ParameterParser;
  [[nodiscard]] const Value& value(std::string_view name) const;

  std::vector<Value> values_;
  std::optional<std::int64_t> start_step_;
  std::optional<std::int64_t> end_step_;
};

}  // namespace smd
