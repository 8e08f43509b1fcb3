// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include "cli/mapped.hpp"
#include "cli/option_hints.hpp"
#include "select/selection.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd::tool::rule {

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

std::size_t record_key(std::string_view option, std::string_view name) {
  const std::vector<std::string_view> names = mapped(record_keys(), &RecordKey::name);
  const auto found = std::ranges::find(names, name);
  refuse_if(found == names.end(), std::string(option) + ": " + not_one_of(name, names));
  return static_cast<std::size_t>(found - names.begin());
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
    case RuleStatus::error:  // records were not read, or the rule threw
      return ExitStatus::damaged;
    case RuleStatus::no_issues_found:
    case RuleStatus::in_progress:
      break;
  }
  return read;
}

std::string place_text(const Finding& finding) {
  return finding.step ? "step " + full_step_text(*finding.step, finding.mode, finding.mode_step) : std::string();
}

std::string result_text(const ReportRecord& record) {
  const RuleResult& result = record.result;
  if (record.finding != nullptr) {
    const std::string place = place_text(*record.finding);
    const std::string more = record.findings > 1 ? fmt::format(" (and {} more)", record.findings - 1) : std::string();
    return place + (place.empty() ? "" : "  ") + shown_message(*record.finding) + more;
  }
  if (!result.message.empty() && result.status != RuleStatus::in_progress) {
    return result.message;
  }
  std::string text(result.status == RuleStatus::in_progress ? "the job goes on; so far " : "");
  text += text::counted(result.steps_evaluated, "step") + " evaluated";
  if (result.first_step && result.first_step == result.last_step) {
    text += ", at " + std::to_string(result.first_step->value);
  } else if (result.first_step && result.last_step) {
    text += ", from " + std::to_string(result.first_step->value) + " to " + std::to_string(result.last_step->value);
  }
  constexpr std::size_t pairs_shown = 3;
  const std::string pairs = text::listed(
      result.pairs, pairs_shown, [](const auto& pair) { return pair.validation + " with training " + pair.training; });
  return text + (pairs.empty() ? "" : "; ") + pairs + (result.pairs.size() > pairs_shown ? " pairs" : "");
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
