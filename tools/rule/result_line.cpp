// SPDX-License-Identifier: Apache-2.0
#include "cli/mapped.hpp"
#include "record.hpp"
#include "text/json.hpp"
#include "text/number.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace smd::tool::rule {

namespace {

using Json = nlohmann::ordered_json;

/// Thrown to end the parsing of a line, as Json::exception is for a key that is missing, or of another type.
struct NotOurs {};

void require(bool ours) {
  if (!ours) {
    throw NotOurs();
  }
}

template <class Value>
Value required(const std::optional<Value>& value) {
  require(value.has_value());
  return *value;
}

const std::string& text(const Json& value) { return value.get_ref<const std::string&>(); }
std::uint64_t count(const Json& value) { return value.get_ref<const Json::number_unsigned_t&>(); }
std::optional<std::string> text_or_null(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(text(value));
}

/// A number, also one that JSON lacks. Null, which --nonfinite may have made of it, is NaN.
double number(const Json& value) {
  if (value.is_number()) {
    return value.get<double>();
  }
  return required(text::non_finite_of(value.is_null() ? "NaN" : text(value)));
}

std::vector<std::string> texts(const Json& value) { return mapped(value.get_ref<const Json::array_t&>(), text); }

template <class Number>
std::optional<Number> step_from(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(Number(value.get_ref<const Json::number_integer_t&>()));
}

/// `train/loss:0:val/loss:0`. Names may hold colons, but the two of a pair differ in words only: the colon in the
/// middle separates them.
TensorPair pair_from(const std::string& text) {
  const auto colons = std::ranges::count(text, ':');
  require(colons % 2 == 1);
  std::size_t middle = text.find(':');
  for (std::ptrdiff_t i = 0; i < colons / 2; ++i) {
    middle = text.find(':', middle + 1);
  }
  return {text.substr(0, middle), text.substr(middle + 1)};
}

/// Nullopt if the line has no finding.
std::optional<Finding> finding_from(const Json& line) {
  const std::optional<std::string> check = text_or_null(line.at("check"));
  if (!check) {
    return std::nullopt;
  }
  Finding finding = {.step = step_from<GlobalStep>(line.at("step")),
                     .tensor = text_or_null(line.at("tensor")),
                     .worker = text_or_null(line.at("worker")),
                     .several_workers = true,
                     .check = *check,
                     .value = number(line.at("value")),
                     .threshold = number(line.at("threshold"))};
  if (finding.step) {
    finding.mode = required(parse_mode(text(line.at("mode"))));
    finding.mode_step = required(step_from<ModeStep>(line.at("mode_step")));
  }
  // The line has the shown message, and nothing else says whether there were several workers.
  const std::string worker = shown_message(finding);
  finding.message = text_or_null(line.at("message")).value_or("");
  finding.several_workers = finding.message.starts_with(worker);
  finding.message.erase(0, finding.several_workers ? worker.size() : 0);
  return finding;
}

RuleResult result_from(const Json& line) {
  RuleResult result;
  result.rule = text_or_null(line.at("rule_to_invoke")).value_or("");
  result.status = required(kind_by_name(text(line.at("status")), RuleStatus::not_evaluated));
  result.message = text_or_null(line.at("message")).value_or("");
  for (const auto& [name, value] : line.at("params").get_ref<const Json::object_t&>()) {
    result.params.emplace_back(name, text_or_null(value));
  }
  result.tensors_matched = count(line.at("tensors_matched"));
  result.steps_evaluated = count(line.at("steps_evaluated"));
  result.steps_skipped = count(line.at("steps_skipped"));
  result.first_step = step_from<GlobalStep>(line.at("first_step"));
  result.last_step = step_from<GlobalStep>(line.at("last_step"));
  result.elapsed = number(line.at("elapsed"));
  if (const std::optional<std::string> kind = text_or_null(line.at("kind"))) {
    result.unread = *kind == "unread";
    if (!result.unread) {
      result.error_kind = required(kind_by_name(*kind, ConfigurationErrorKind::exception));
    }
  }
  result.error_parameter = text_or_null(line.at("parameter")).value_or("");
  result.warnings = texts(line.at("warnings"));
  result.records_unread = count(line.at("records_unread"));
  result.pairs = mapped(texts(line.at("pairs")), pair_from);
  return result;
}

OwnedRecord record_from(const Json& line, RecordKind kind) {
  const bool whole = kind == RecordKind::result;
  RuleResult result = whole ? result_from(line) : RuleResult();
  result.name = text(line.at("rule"));
  std::optional<Finding> finding = finding_from(line);
  require(whole || finding);
  return {kind, text(line.at("trial")), std::move(result), std::move(finding), whole ? count(line.at("findings")) : 0};
}

PartLine part_from(const Json& line) {
  PartLine part = {.shard = {count(line.at("part")), count(line.at("parts"))},
                   .trials = count(line.at("trials")),
                   .several = line.at("several").get_ref<const bool&>(),
                   .whole = text(line.at("whole")),
                   .records = count(line.at("records"))};
  const std::uint64_t status = count(line.at("status"));
  const auto known = std::ranges::find_if(exit_status_order,
                                          [&](ExitStatus one) { return static_cast<std::uint64_t>(one) == status; });
  require(known != exit_status_order.end() && part.shard.index >= 1 && part.shard.index <= part.shard.count &&
          part.shard.count <= std::uint64_t{most_shards});
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
    const std::string& kind = text(document->at("record"));
    if (kind == "part") {
      return part_from(*document);
    }
    require(kind == "finding" || kind == "result");
    return record_from(*document, kind == "finding" ? RecordKind::finding : RecordKind::result);
  } catch (const NotOurs&) {
    return ForeignLine();
  } catch (const Json::exception&) {
    return ForeignLine();
  }
}

}  // namespace smd::tool::rule
