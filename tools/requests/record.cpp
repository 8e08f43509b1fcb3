// SPDX-License-Identifier: Apache-2.0
#include "requests/record.hpp"

#include "cli/escape.hpp"
#include "cli/mapped.hpp"

#include <array>
#include <cmath>

namespace smd::tool {

std::vector<std::string> pair_texts(const std::vector<TensorPair>& pairs) {
  return mapped(pairs, [](const TensorPair& pair) { return pair.training + ":" + pair.validation; });
}

namespace {

std::string params_json(const RuleResult& result) {
  std::string json = "{";
  for (const auto& [name, text] : result.params) {
    json += json.size() > 1 ? "," : "";
    append_json(json, name);
    json += ':';
    append_json_cell(json, text, 0, NonFinite::string);
  }
  return json + "}";
}

std::vector<std::string> param_texts(const RuleResult& result) {
  return mapped(result.params, [](const auto& param) { return param.first + "=" + param.second.value_or("None"); });
}

Cell kind_cell(const ReportRecord& record, RecordCells& /*cells*/) {
  return record.kind == RecordKind::result ? "result" : "finding";
}

Cell message_cell(const ReportRecord& record, RecordCells& cells) {
  const Finding* const finding = record.finding;
  return or_missing(finding != nullptr ? cells.list({shown_message(*finding)}).items.front() : record.result.message);
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

bool measured(const Finding& finding) noexcept { return !std::isnan(finding.value) || !std::isnan(finding.threshold); }

}  // namespace smd::tool
