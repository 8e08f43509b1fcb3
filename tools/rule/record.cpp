// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include "cli/escape.hpp"
#include "cli/exit_status.hpp"
#include "cli/option_hints.hpp"
#include "select/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace smd::tool::rule {

namespace {

template <class Number>
Cell step_cell(const std::optional<Number>& step) {
  return step ? Cell(step->value) : Cell();
}

Cell text_cell(const std::optional<std::string>& text) { return text ? Cell(*text) : Cell(); }

Cell or_missing(std::string_view text) { return text.empty() ? Cell() : Cell(text); }

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

OwnedRecord::OwnedRecord(const ReportRecord& record)
    : kind_(record.kind),
      trial_(record.trial),
      finding_(record.finding != nullptr ? std::optional(*record.finding) : std::nullopt),
      findings_(record.findings) {
  if (kind_ == RecordKind::result) {
    result_ = record.result;
    result_.findings = {};  // there may be very many
  } else {                  // all that a finding uses
    result_.name = record.result.name;
    result_.rule = record.result.rule;
  }
}

OwnedRecord::OwnedRecord(RecordKind kind, std::string trial, RuleResult result, std::optional<Finding> finding,
                         std::size_t findings)
    : kind_(kind),
      trial_(std::move(trial)),
      result_(std::move(result)),
      finding_(std::move(finding)),
      findings_(findings) {}

std::vector<std::string> pair_texts(const std::vector<TensorPair>& pairs) {
  std::vector<std::string> texts;
  texts.reserve(pairs.size());
  for (const TensorPair& pair : pairs) {
    texts.push_back(pair.training + ":" + pair.validation);
  }
  return texts;
}

const std::vector<RecordKey>& record_keys() {
  static const std::vector<RecordKey> keys = {
      {"record", true, false},
      {"trial", true, false},
      {"rule", true, false},
      {"rule_to_invoke", false, false},
      {"status", false, false},
      {"step", true, true},
      {"mode", true, false},
      {"mode_step", true, true},
      {"tensor", true, false},
      {"worker", true, false},
      {"check", true, false},
      {"value", true, true},
      {"threshold", true, true},
      {"message", true, false},
      {"params", false, false},
      {"tensors_matched", false, true},
      {"steps_evaluated", false, true},
      {"steps_skipped", false, true},
      {"findings", false, true},
      {"first_step", false, true},
      {"last_step", false, true},
      {"elapsed", false, true},
      {"kind", false, false},
      {"parameter", false, false},
      {"warnings", false, false},
      {"records_unread", false, true},
      {"pairs", false, false},
  };
  return keys;
}

std::size_t record_key(std::string_view option, std::string_view name) {
  const std::vector<RecordKey>& keys = record_keys();
  std::vector<std::string_view> names;
  names.reserve(keys.size());
  for (const RecordKey& key : keys) {
    names.push_back(key.name);
  }
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw UsageError(std::string(option) + ": " + not_one_of(name, names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

const std::vector<Cell>& RecordCells::fill(const ReportRecord& record) {
  const RuleResult& result = record.result;
  const Finding* const finding = record.finding;
  const bool whole = record.kind == RecordKind::result;
  const bool placed = finding != nullptr && finding->step.has_value();
  params_.clear();
  for (const auto& [name, text] : result.params) {
    params_.push_back(name + "=" + text.value_or("None"));
  }
  cells_.clear();
  cells_.emplace_back(whole ? "result" : "finding");
  cells_.emplace_back(record.trial);
  cells_.emplace_back(result.name);
  cells_.push_back(whole ? or_missing(result.rule) : Cell());
  cells_.push_back(whole ? Cell(to_string(result.status)) : Cell());
  cells_.push_back(finding != nullptr ? step_cell(finding->step) : Cell());
  cells_.push_back(placed ? Cell(to_string(finding->mode)) : Cell());
  cells_.push_back(placed ? Cell(finding->mode_step.value) : Cell());
  cells_.push_back(finding != nullptr ? text_cell(finding->tensor) : Cell());
  cells_.push_back(finding != nullptr ? text_cell(finding->worker) : Cell());
  cells_.push_back(finding != nullptr ? Cell(finding->check) : Cell());
  const bool numbers = finding != nullptr && measured(*finding);
  cells_.push_back(numbers ? Cell(finding->value) : Cell());
  cells_.push_back(numbers ? Cell(finding->threshold) : Cell());
  cells_.push_back(or_missing(finding != nullptr ? finding->message : result.message));
  if (!whole) {
    cells_.resize(record_keys().size());
    return cells_;
  }
  cells_.emplace_back(ListCell{params_});
  cells_.emplace_back(result.tensors_matched);
  cells_.emplace_back(result.steps_evaluated);
  cells_.emplace_back(result.steps_skipped);
  cells_.emplace_back(record.findings);
  cells_.push_back(step_cell(result.first_step));
  cells_.push_back(step_cell(result.last_step));
  cells_.emplace_back(result.elapsed);
  cells_.push_back(or_missing(kind_of(result)));
  cells_.push_back(or_missing(result.error_parameter));
  cells_.emplace_back(ListCell{result.warnings});
  cells_.emplace_back(result.records_unread);
  pairs_ = pair_texts(result.pairs);
  cells_.emplace_back(ListCell{pairs_});
  return cells_;
}

std::string record_json(const ReportRecord& record, const std::vector<std::size_t>& chosen, int precision,
                        NonFinite nonfinite) {
  RecordCells filled;
  const std::vector<Cell>& cells = filled.fill(record);
  const std::vector<RecordKey>& keys = record_keys();
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

bool in_finding(std::string_view key) noexcept {
  const std::vector<RecordKey>& keys = record_keys();
  return std::any_of(keys.begin(), keys.end(), [&](const RecordKey& one) { return one.name == key && one.in_finding; });
}

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

namespace {

/// FNV-1a, 64 bits (RFC 9923).
class Digest {
 public:
  void add(std::string_view text) noexcept {
    for (const char c : text) {
      add_byte(static_cast<unsigned char>(c));
    }
    add_byte(0);  // separates texts, which hold no NUL
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  void add_byte(unsigned char byte) noexcept { hash_ = (hash_ ^ byte) * 0x100000001B3; }
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

}  // namespace

std::string to_json(const PartLine& part) {
  return fmt::format(
      R"({{"record":"part","part":{},"parts":{},"trials":{},"several":{},"whole":"{}","records":{},"status":{}}})",
      part.shard.index, part.shard.count, part.trials, part.several, part.whole, part.records,
      static_cast<int>(part.status));
}

std::string digest_of(std::span<const std::string> trials, const std::vector<RuleRequest>& requests) {
  Digest digest;
  for (const std::string& trial : trials) {
    digest.add(trial);
  }
  for (const RuleRequest& request : requests) {
    digest.add("");
    digest.add(request.name());
    digest.add(request.configuration.rule_to_invoke);
    for (const auto& [name, text] : request.configuration.parameters) {
      digest.add(name);
      digest.add(text);
    }
  }
  return fmt::format("{:016x}", digest.value());
}

}  // namespace smd::tool::rule
