// SPDX-License-Identifier: Apache-2.0
#include "result_line.hpp"

#include "text/json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace smd::tool::rule {

namespace {

using Json = nlohmann::ordered_json;

/// Thrown to end the parsing of a line.
struct NotOurs {};

/// An object of a line. All functions throw NotOurs for a key that is missing, or of another type.
class LineObject {
 public:
  explicit LineObject(const Json& object) : object_(object) {
    if (!object.is_object()) {
      throw NotOurs();
    }
  }

  [[nodiscard]] const Json& at(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) {
      throw NotOurs();
    }
    return *found;
  }
  [[nodiscard]] const std::string& text(const char* key) const { return text_of(at(key)); }
  [[nodiscard]] std::optional<std::string> text_or_null(const char* key) const {
    const Json& value = at(key);
    return value.is_null() ? std::nullopt : std::optional(text_of(value));
  }
  [[nodiscard]] std::uint64_t count(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number_unsigned()) {
      throw NotOurs();
    }
    return value.get<std::uint64_t>();
  }
  [[nodiscard]] std::optional<std::int64_t> integer_or_null(const char* key) const {
    const Json& value = at(key);
    if (value.is_null()) {
      return std::nullopt;
    }
    if (!value.is_number_integer()) {
      throw NotOurs();
    }
    return value.get<std::int64_t>();
  }
  [[nodiscard]] bool truth(const char* key) const {
    const Json& value = at(key);
    if (!value.is_boolean()) {
      throw NotOurs();
    }
    return value.get<bool>();
  }
  /// A number, also one that JSON lacks. Null, which --nonfinite may have made of it, is NaN.
  [[nodiscard]] double number(const char* key) const {
    const Json& value = at(key);
    if (value.is_number()) {
      return value.get<double>();
    }
    if (value.is_null()) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const std::string& text = text_of(value);
    if (text != "NaN" && text != "Infinity" && text != "-Infinity") {
      throw NotOurs();
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return text == "NaN" ? std::numeric_limits<double>::quiet_NaN() : text == "Infinity" ? infinity : -infinity;
  }
  [[nodiscard]] std::vector<std::string> texts(const char* key) const {
    const Json& value = at(key);
    if (!value.is_array()) {
      throw NotOurs();
    }
    std::vector<std::string> all;
    for (const Json& item : value) {
      all.push_back(text_of(item));
    }
    return all;
  }

 private:
  static const std::string& text_of(const Json& value) {
    if (!value.is_string()) {
      throw NotOurs();
    }
    return value.get_ref<const std::string&>();
  }

  const Json& object_;
};

template <class Kind, std::size_t Count>
Kind kind_by_name(const std::array<Kind, Count>& kinds, std::string_view name) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](Kind kind) { return to_string(kind) == name; });
  if (found == kinds.end()) {
    throw NotOurs();
  }
  return *found;
}

RuleStatus status_from(std::string_view name) {
  return kind_by_name(std::array{RuleStatus::no_issues_found, RuleStatus::issues_found, RuleStatus::error,
                                 RuleStatus::in_progress, RuleStatus::not_evaluated},
                      name);
}

ConfigurationErrorKind error_kind_from(std::string_view name) {
  using Kind = ConfigurationErrorKind;
  return kind_by_name(
      std::array{Kind::unknown_rule, Kind::unknown_parameter, Kind::bad_value, Kind::missing_parameter,
                 Kind::bad_config, Kind::bad_trial, Kind::custom_rule, Kind::unsupported_rule, Kind::exception},
      name);
}

template <class Number>
std::optional<Number> step_from(const LineObject& line, const char* key) {
  const std::optional<std::int64_t> step = line.integer_or_null(key);
  return step ? std::optional(Number(*step)) : std::nullopt;
}

/// `train/loss:0:val/loss:0`. Names may hold colons, but the two of a pair differ in words only: the colon in the
/// middle separates them.
TensorPair pair_from(const std::string& text) {
  const auto colons = std::count(text.begin(), text.end(), ':');
  if (colons % 2 == 0) {
    throw NotOurs();
  }
  std::size_t middle = text.find(':');
  for (std::ptrdiff_t i = 0; i < colons / 2; ++i) {
    middle = text.find(':', middle + 1);
  }
  return {text.substr(0, middle), text.substr(middle + 1)};
}

/// Nullopt if the line has no finding.
std::optional<Finding> finding_from(const LineObject& line) {
  const std::optional<std::string> check = line.text_or_null("check");
  if (!check) {
    return std::nullopt;
  }
  Finding finding;
  finding.step = step_from<GlobalStep>(line, "step");
  if (finding.step) {
    const std::optional<Mode> mode = parse_mode(line.text("mode"));
    const std::optional<ModeStep> mode_step = step_from<ModeStep>(line, "mode_step");
    if (!mode || !mode_step) {
      throw NotOurs();
    }
    finding.mode = *mode;
    finding.mode_step = *mode_step;
  }
  finding.tensor = line.text_or_null("tensor");
  finding.worker = line.text_or_null("worker");
  finding.check = *check;
  finding.value = line.number("value");
  finding.threshold = line.number("threshold");
  finding.message = line.text_or_null("message").value_or("");
  return finding;
}

RuleResult result_from(const LineObject& line) {
  RuleResult result;
  result.rule = line.text_or_null("rule_to_invoke").value_or("");
  result.status = status_from(line.text("status"));
  result.message = line.text_or_null("message").value_or("");
  const Json& params = line.at("params");
  if (!params.is_object()) {
    throw NotOurs();
  }
  const LineObject texts(params);
  for (const auto& [name, text] : params.items()) {
    result.params.emplace_back(name, texts.text_or_null(name.c_str()));
  }
  result.tensors_matched = line.count("tensors_matched");
  result.steps_evaluated = line.count("steps_evaluated");
  result.steps_skipped = line.count("steps_skipped");
  result.first_step = step_from<GlobalStep>(line, "first_step");
  result.last_step = step_from<GlobalStep>(line, "last_step");
  result.elapsed = line.number("elapsed");
  if (const std::optional<std::string> kind = line.text_or_null("kind")) {
    result.unread = *kind == "unread";
    if (!result.unread) {
      result.error_kind = error_kind_from(*kind);
    }
  }
  result.error_parameter = line.text_or_null("parameter").value_or("");
  result.warnings = line.texts("warnings");
  result.records_unread = line.count("records_unread");
  for (const std::string& pair : line.texts("pairs")) {
    result.pairs.push_back(pair_from(pair));
  }
  return result;
}

OwnedRecord record_from(const LineObject& line, RecordKind kind) {
  const bool whole = kind == RecordKind::result;
  RuleResult result = whole ? result_from(line) : RuleResult();
  result.name = line.text("rule");
  std::optional<Finding> finding = finding_from(line);
  if (!whole && !finding) {
    throw NotOurs();
  }
  return {kind, line.text("trial"), std::move(result), std::move(finding), whole ? line.count("findings") : 0};
}

PartLine part_from(const LineObject& line) {
  PartLine part;
  part.shard = {line.count("part"), line.count("parts")};
  part.trials = line.count("trials");
  part.several = line.truth("several");
  part.whole = line.text("whole");
  part.records = line.count("records");
  const std::uint64_t status = line.count("status");
  const auto known = std::find_if(exit_status_order.begin(), exit_status_order.end(),
                                  [&](ExitStatus one) { return static_cast<std::uint64_t>(one) == status; });
  if (known == exit_status_order.end() || part.shard.index < 1 || part.shard.index > part.shard.count ||
      part.shard.count > std::uint64_t{most_shards}) {
    throw NotOurs();
  }
  part.status = *known;
  return part;
}

}  // namespace

std::variant<ForeignLine, OwnedRecord, PartLine> parse_result_line(std::string_view line) {
  text::JsonDocument<Json> document;
  if (text::parse_json(line, document)) {
    return ForeignLine();
  }
  try {
    const LineObject object(*document);
    const std::string& kind = object.text("record");
    if (kind == "part") {
      return part_from(object);
    }
    if (kind != "finding" && kind != "result") {
      return ForeignLine();
    }
    return record_from(object, kind == "finding" ? RecordKind::finding : RecordKind::result);
  } catch (const NotOurs&) {
    return ForeignLine();
  }
}

}  // namespace smd::tool::rule
