// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include "cli/escape.hpp"
#include "cli/mapped.hpp"
#include "cli/option_hints.hpp"
#include "select/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace smd::tool::rule {

namespace {

std::string params_json(const RuleResult& result) {
  std::string json = "{";
  for (const auto& [name, text] : result.params) {
    json += json.size() > 1 ? "," : "";
    append_json(json, name);
    json += ':';
    if (text) {
      append_json(json, *text);
    } else {
      json += "null";
    }
  }
  return json + "}";
}

}  // namespace

OwnedRecord OwnedRecord::of(const ReportRecord& record) {
  OwnedRecord own = {.kind = record.kind, .trial = std::string(record.trial), .findings = record.findings};
  if (record.finding != nullptr) {
    own.finding = *record.finding;
  }
  if (record.kind == RecordKind::result) {
    own.result = record.result;
    own.result.findings = {};  // there may be very many
  } else {                     // all that a finding uses
    own.result.name = record.result.name;
    own.result.rule = record.result.rule;
  }
  return own;
}

std::vector<std::string> pair_texts(const std::vector<TensorPair>& pairs) {
  return mapped(pairs, [](const TensorPair& pair) { return pair.training + ":" + pair.validation; });
}

namespace {

std::vector<std::string> param_texts(const RuleResult& result) {
  return mapped(result.params, [](const auto& param) { return param.first + "=" + param.second.value_or("None"); });
}

Cell kind_cell(const ReportRecord& record, RecordCells& /*cells*/) {
  return record.kind == RecordKind::result ? "result" : "finding";
}

Cell message_cell(const ReportRecord& record, RecordCells& /*cells*/) {
  return or_missing(record.finding != nullptr ? record.finding->message : record.result.message);
}

Cell pairs_cell(const ReportRecord& record, RecordCells& cells) { return cells.list(pair_texts(record.result.pairs)); }

}  // namespace

std::span<const RecordKey> record_keys() {
  using Record = const ReportRecord&;
  using Found = const Finding&;
  using Cells = RecordCells&;
  constexpr Align left = Align::left;
  constexpr Align right = Align::right;
  // clang-format off
  static constexpr std::array<RecordKey, 27> keys = {{
      {"record", true, left, nullptr, kind_cell},
      {"trial", true, left, nullptr, [](Record it, Cells) { return Cell(it.trial); }},
      {"rule", true, left, nullptr, [](Record it, Cells) { return Cell(it.result.name); }},
      {"rule_to_invoke", false, left, nullptr, [](Record it, Cells) { return or_missing(it.result.rule); }},
      {"status", false, left, nullptr, [](Record it, Cells) { return Cell(to_string(it.result.status)); }},
      {"step", true, right, [](Found it) { return Cell(it.step); }, nullptr},
      {"mode", true, left, [](Found it) { return it.step ? Cell(to_string(it.mode)) : Cell(); }, nullptr},
      {"mode_step", true, right, [](Found it) { return it.step ? Cell(it.mode_step.value) : Cell(); }, nullptr},
      {"tensor", true, left, [](Found it) { return Cell(it.tensor); }, nullptr},
      {"worker", true, left, [](Found it) { return Cell(it.worker); }, nullptr},
      {"check", true, left, [](Found it) { return Cell(it.check); }, nullptr},
      {"value", true, right, [](Found it) { return measured(it) ? Cell(it.value) : Cell(); }, nullptr},
      {"threshold", true, right, [](Found it) { return measured(it) ? Cell(it.threshold) : Cell(); }, nullptr},
      {"message", true, left, nullptr, message_cell},
      {"params", false, left, nullptr, [](Record it, Cells cells) { return Cell(cells.list(param_texts(it.result))); }},
      {"tensors_matched", false, right, nullptr, [](Record it, Cells) { return Cell(it.result.tensors_matched); }},
      {"steps_evaluated", false, right, nullptr, [](Record it, Cells) { return Cell(it.result.steps_evaluated); }},
      {"steps_skipped", false, right, nullptr, [](Record it, Cells) { return Cell(it.result.steps_skipped); }},
      {"findings", false, right, nullptr, [](Record it, Cells) { return Cell(it.findings); }},
      {"first_step", false, right, nullptr, [](Record it, Cells) { return Cell(it.result.first_step); }},
      {"last_step", false, right, nullptr, [](Record it, Cells) { return Cell(it.result.last_step); }},
      {"elapsed", false, right, nullptr, [](Record it, Cells) { return Cell(it.result.elapsed); }},
      {"kind", false, left, nullptr, [](Record it, Cells) { return or_missing(kind_of(it.result)); }},
      {"parameter", false, left, nullptr, [](Record it, Cells) { return or_missing(it.result.error_parameter); }},
      {"warnings", false, left, nullptr, [](Record it, Cells) { return Cell(ListCell{it.result.warnings}); }},
      {"records_unread", false, right, nullptr, [](Record it, Cells) { return Cell(it.result.records_unread); }},
      {"pairs", false, left, nullptr, pairs_cell},
  }};
  // clang-format on
  return keys;
}

std::size_t record_key(std::string_view option, std::string_view name) {
  const std::vector<std::string_view> names = mapped(record_keys(), &RecordKey::name);
  const auto found = std::ranges::find(names, name);
  refuse_if(found == names.end(), std::string(option) + ": " + not_one_of(name, names));
  return static_cast<std::size_t>(found - names.begin());
}

const std::vector<Cell>& RecordCells::fill(const ReportRecord& record) {
  cells_.clear();
  lists_.clear();
  for (const RecordKey& key : record_keys()) {
    const bool has = record.kind == RecordKind::result || key.in_finding;
    cells_.push_back(key.of_record != nullptr    ? has ? key.of_record(record, *this) : Cell()
                        : record.finding != nullptr ? key.of_finding(*record.finding)
                                                 : Cell());
  }
  return cells_;
}

std::string record_json(const ReportRecord& record, const std::vector<std::size_t>& chosen, int precision,
                        NonFinite nonfinite) {
  RecordCells filled;
  const std::vector<Cell>& cells = filled.fill(record);
  const std::span<const RecordKey> keys = record_keys();
  std::string json;
  const auto add = [&](std::size_t i) {
    json += json.empty() ? "{" : ",";
    append_json(json, keys[i].name);
    json += ':';
    if (keys[i].name == "params" && !cells[i].missing()) {
      json += params_json(record.result);
    } else {
      append_json_cell(json, cells[i], precision, nonfinite);
    }
  };
  for (const std::size_t i : chosen) {
    add(i);
  }
  for (std::size_t i = 0; chosen.empty() && i < keys.size(); ++i) {
    if (record.kind == RecordKind::result || keys[i].in_finding) {
      add(i);
    }
  }
  return json + "}";
}

std::string_view kind_of(const RuleResult& result) noexcept {
  return result.error_kind ? to_string(*result.error_kind) : result.unread ? "unread" : std::string_view();
}

ExitStatus result_status(const RuleResult& result) noexcept {
  const ExitStatus read = result.records_unread > 0 ? ExitStatus::damaged : ExitStatus::yes;
  if (result.error_kind) {
    using Kind = ConfigurationErrorKind;
    return evaluated_elsewhere(*result.error_kind)
               ? read
               : combine(read, result.error_kind == Kind::bad_trial   ? ExitStatus::unreadable
                               : result.error_kind == Kind::exception ? ExitStatus::damaged
                                                                      : ExitStatus::usage);
  }
  switch (result.status) {
    case RuleStatus::issues_found:
      return combine(read, ExitStatus::no);
    case RuleStatus::not_evaluated:
      return combine(read, ExitStatus::nothing_evaluated);
    case RuleStatus::error:  // a user's own rule that threw has no result
      return result.unread ? read : combine(read, ExitStatus::nothing_evaluated);
    case RuleStatus::no_issues_found:
    case RuleStatus::in_progress:
      break;
  }
  return read;
}

bool measured(const Finding& finding) noexcept { return !std::isnan(finding.value) || !std::isnan(finding.threshold); }

std::string place_text(const Finding& finding) {
  if (!finding.step) {
    return {};
  }
  std::string text = "step " + std::to_string(finding.step->value);
  if (finding.mode != Mode::global) {
    text += " (" + std::string(mode_text(finding.mode)) + " " + std::to_string(finding.mode_step.value) + ")";
  }
  return text;
}

std::string result_text(const ReportRecord& record) {
  const RuleResult& result = record.result;
  if (record.finding != nullptr) {
    std::string text = place_text(*record.finding);
    text += text.empty() ? "" : "  ";
    text += record.finding->message;
    const std::size_t more = record.findings > 1 ? record.findings - 1 : 0;
    return more == 0 ? text : text + " (and " + std::to_string(more) + " more)";
  }
  if (!result.message.empty() && result.status != RuleStatus::in_progress) {
    return result.message;
  }
  std::string text(result.status == RuleStatus::in_progress ? "the job goes on; so far " : "");
  text += std::to_string(result.steps_evaluated) + (result.steps_evaluated == 1 ? " step" : " steps") + " evaluated";
  if (result.first_step && result.first_step == result.last_step) {
    text += ", at " + std::to_string(result.first_step->value);
  } else if (result.first_step && result.last_step) {
    text += ", from " + std::to_string(result.first_step->value) + " to " + std::to_string(result.last_step->value);
  }
  constexpr std::size_t pairs_shown = 3;
  for (std::size_t i = 0; i < std::min(result.pairs.size(), pairs_shown); ++i) {
    text += (i == 0 ? "; " : ", ") + result.pairs[i].validation + " with training " + result.pairs[i].training;
  }
  if (result.pairs.size() > pairs_shown) {
    text += " and " + std::to_string(result.pairs.size() - pairs_shown) + " more pairs";
  }
  return text;
}

std::string to_json(const PartLine& part) {
  return fmt::format(
      R"({{"record":"part","part":{},"parts":{},"trials":{},"several":{},"whole":"{}","records":{},"status":{}}})",
      part.shard.index, part.shard.count, part.trials, part.several, part.whole, part.records,
      static_cast<int>(part.status));
}

std::string digest_of(std::span<const std::string> trials, const std::vector<RuleRequest>& requests) {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a, 64 bits (RFC 9923)
  constexpr std::uint64_t prime = 0x100000001B3;
  const auto add = [&](std::string_view text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    }
    hash *= prime;  // a NUL, which texts do not hold, separates them
  };
  for (const std::string& trial : trials) {
    add(trial);
  }
  for (const RuleRequest& request : requests) {
    add("");
    add(request.name());
    add(request.configuration.rule_to_invoke);
    for (const auto& [name, text] : request.configuration.parameters) {
      add(name);
      add(text);
    }
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace smd::tool::rule
