// SPDX-License-Identifier: Apache-2.0
#include <smd/rule_parameter.hpp>

#include "framework/common.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/pattern.hpp"
#include "text/trim.hpp"

#include <smd/rule_registry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace smd {

ConfigurationError::~ConfigurationError() = default;

namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 9> error_kinds = {"unknown_rule",      "unknown_parameter", "bad_value",
                                                         "missing_parameter", "bad_config",        "bad_trial",
                                                         "custom_rule",       "unsupported_rule",  "exception"};
static_assert(error_kinds.size() == static_cast<std::size_t>(ConfigurationErrorKind::exception) + 1);
constexpr std::array<std::string_view, 8> parameter_types = {
    "Integer", "Float", "Boolean", "List", "List of Float", "List of patterns", "Pattern", "Text"};
static_assert(parameter_types.size() == static_cast<std::size_t>(ParameterType::text) + 1);

constexpr std::string_view python_blanks = " \t\r\n\v\f";

std::string_view trim(std::string_view text) { return text::trimmed(text, python_blanks); }

const ParameterSpec* find_spec(std::span<const ParameterSpec> specs, std::string_view name) {
  const auto it = std::ranges::find_if(specs, [&](const ParameterSpec& spec) {
    return spec.name == name || (!spec.other_name.empty() && spec.other_name == name);
  });
  return it == specs.end() ? nullptr : &*it;
}

/// Returns whether a text means the default: an empty one does, and `None` for a parameter without a default.
bool means_default(const ParameterSpec& spec, std::string_view text) {
  return text.empty() || (!spec.default_text && text == "None");
}

[[noreturn]] void refuse_name(std::span<const ParameterSpec> specs, const std::string& name) {
  std::vector<std::string_view> names =
      detail::mapped(specs, [](const ParameterSpec& spec) { return std::string_view(spec.name); });
  // The common parameters that have an effect, unless the rule has one of that name itself.
  for (const std::string_view common : {"start_step", "end_step"}) {
    if (find_spec(specs, common) == nullptr) {
      names.push_back(common);
    }
  }
  throw detail::rules::unknown_word(ConfigurationErrorKind::unknown_parameter,
                                    fmt::format("no parameter '{}'", detail::printable(name)), name, names,
                                    fmt::format("there are {}", fmt::join(names, ", ")), name);
}

}  // namespace

std::string_view to_string(ConfigurationErrorKind kind) noexcept { return error_kinds[static_cast<std::size_t>(kind)]; }

std::string_view to_string(ParameterType type) noexcept { return parameter_types[static_cast<std::size_t>(type)]; }

std::string range_text(const ParameterSpec& spec) {
  if (!spec.choices.empty()) {
    const bool words = std::ranges::any_of(spec.choices, [](const std::string& choice) {
      return choice.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != std::string::npos;
    });
    return fmt::format("{}{}", fmt::join(spec.choices, ", "), words ? ", any case" : "");
  }
  std::string text;
  const bool low = std::isfinite(spec.at_least);
  const bool high = std::isfinite(spec.at_most);
  if (low && high) {
    text = spec.exclusive ? fmt::format("{} < x < {}", spec.at_least, spec.at_most)
                          : fmt::format("{} to {}", spec.at_least, spec.at_most);
  } else if (low) {
    text = fmt::format("{} {}", spec.exclusive ? ">" : ">=", spec.at_least);
  } else if (high) {
    text = fmt::format("{} {}", spec.exclusive ? "<" : "<=", spec.at_most);
  }
  if (spec.not_zero) {
    text += text.empty() ? "not 0" : ", not 0";
  }
  return text;
}

/// Parses one parameter's text according to its specification.
class ParameterParser {
 public:
  explicit ParameterParser(const ParameterSpec& spec) : spec_(spec) {}

  void parse(std::string_view text, Parameters::Value& value) const {
    value.text = std::string(text);
    switch (spec_.type) {
      case ParameterType::integer:
        value.integer = integer(text);
        break;
      case ParameterType::number:
        value.number = number(text, text);
        break;
      case ParameterType::boolean:
        value.boolean = boolean(text);
        break;
      case ParameterType::list:
      case ParameterType::number_list:
      case ParameterType::pattern_list:
        value.list = text::list_items(text, python_blanks);
        for (const std::string& item : value.list) {
          if (spec_.type == ParameterType::number_list) {
            value.numbers.push_back(number(item, text));
          } else if (spec_.type == ParameterType::pattern_list) {
            check_pattern(item);
          }
        }
        break;
      case ParameterType::pattern:
        check_pattern(value.text.value());
        break;
      case ParameterType::text:
        choose(value);
        break;
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view text, const std::string& valid) const {
    throw ConfigurationError(
        ConfigurationErrorKind::bad_value,
        fmt::format("parameter {}: '{}' is not valid; give {}", spec_.name, detail::printable(text), valid),
        spec_.name);
  }

  [[nodiscard]] std::string wanted(std::string_view what) const {
    const std::string range = range_text(spec_);
    return range.empty() ? std::string(what) : fmt::format("{} {}", what, range);
  }

  [[nodiscard]] bool in_range(double value) const {
    const bool low = spec_.exclusive ? value > spec_.at_least || std::isinf(spec_.at_least) : value >= spec_.at_least;
    const bool high = spec_.exclusive ? value < spec_.at_most || std::isinf(spec_.at_most) : value <= spec_.at_most;
    return low && high && !(spec_.not_zero && value == 0);
  }

  [[nodiscard]] std::int64_t integer(std::string_view given) const {
    std::string_view text = trim(given);
    if (text.starts_with('+') && !text.starts_with("+-")) {
      text.remove_prefix(1);
    }
    const auto value = text::parsed<std::int64_t>(text);
    if (!value || !in_range(static_cast<double>(*value))) {
      refuse(given, wanted("a whole number"));
    }
    return *value;
  }

  /// A number beyond the range of a double is 0 or infinity, as in Python.
  [[nodiscard]] double number(std::string_view item, std::string_view text) const {
    const std::optional<double> value = text::number_of(trim(item));
    if (!value || std::isnan(*value) || !in_range(*value)) {
      refuse(text, wanted(spec_.type == ParameterType::number_list ? "numbers" : "a number"));
    }
    return *value;
  }

  [[nodiscard]] bool boolean(std::string_view text) const {
    const std::string word = detail::folded(trim(text));
    const bool truth = word == "true" || word == "1";
    if (!truth && word != "false" && word != "0") {
      refuse(text, "True, False, 1 or 0");
    }
    return truth;
  }

  void check_pattern(const std::string& text) const {
    detail::Pattern pattern;
    if (const auto error = pattern.compile(text)) {
      refuse(text, fmt::format("a regular expression: {}", *error));
    }
  }

  void choose(Parameters::Value& value) const {
    for (const std::string& choice : spec_.choices) {
      if (detail::folded(trim(*value.text)) == detail::folded(choice)) {
        value.text = choice;
        return;
      }
    }
    if (!spec_.choices.empty()) {
      refuse(*value.text, range_text(spec_));
    }
  }

  const ParameterSpec& spec_;
};

Parameters::Parameters(std::span<const ParameterSpec> specs, const ParameterTexts& given) {
  const std::vector<ParameterSpec> common = common_parameters();
  for (const auto& [name, text] : given) {
    if (find_spec(specs, name) == nullptr && find_spec(common, name) == nullptr) {
      refuse_name(specs, name);
    }
  }
  const auto parse = [&](const ParameterSpec& spec) {
    Value value;
    value.name = spec.name;
    auto it = given.find(spec.name);
    if ((it == given.end() || means_default(spec, it->second)) && !spec.other_name.empty() &&
        given.contains(spec.other_name)) {
      it = given.find(spec.other_name);
    }
    const ParameterParser parser(spec);
    if (it != given.end() && !means_default(spec, it->second)) {
      parser.parse(it->second, value);
      value.given = true;
    } else if (spec.default_text) {
      parser.parse(*spec.default_text, value);
    } else if (spec.required) {
      throw ConfigurationError(ConfigurationErrorKind::missing_parameter,
                               fmt::format("parameter {} must be given: {}", spec.name, spec.help), spec.name);
    }
    return value;
  };
  for (const ParameterSpec& spec : specs) {
    values_.push_back(parse(spec));
  }
  for (const ParameterSpec& spec : common) {
    if (find_spec(specs, spec.name) != nullptr) {
      continue;  // the rule's own parameter, whose meaning the rule defines
    }
    const Value value = parse(spec);
    if (value.given && spec.name == "start_step") {
      start_step_ = value.integer;
    } else if (value.given && spec.name == "end_step") {
      end_step_ = value.integer;
    }
  }
}

const Parameters::Value& Parameters::value(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &Value::name);
  if (found == values_.end()) {
    throw InvalidArgument(fmt::format("the rule's table has no parameter '{}'", name));
  }
  return *found;
}

bool Parameters::has(std::string_view name) const noexcept {
  const auto found = std::ranges::find(values_, name, &Value::name);
  return found != values_.end() && found->text;
}
bool Parameters::given(std::string_view name) const noexcept {
  const auto found = std::ranges::find(values_, name, &Value::name);
  return found != values_.end() && found->given;
}
std::int64_t Parameters::integer(std::string_view name) const { return value(name).integer; }
double Parameters::number(std::string_view name) const { return value(name).number; }
bool Parameters::boolean(std::string_view name) const { return value(name).boolean; }
const std::string& Parameters::text(std::string_view name) const {
  static const std::string none;
  const Value& found = value(name);
  return found.text ? *found.text : none;
}
const std::vector<std::string>& Parameters::list(std::string_view name) const { return value(name).list; }
const std::vector<double>& Parameters::numbers(std::string_view name) const { return value(name).numbers; }

std::vector<std::pair<std::string, std::optional<std::string>>> Parameters::effective() const {
  return detail::mapped(values_, [](const Value& value) { return std::pair(value.name, value.text); });
}

}  // namespace smd
