// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/exit_status.hpp"
#include "operands/shard.hpp"
#include "requests/record.hpp"
#include "requests/requests.hpp"

#include <smd/rule_result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smd::tool::rule {

/// A record with what it borrows. Of several findings it keeps the first.
struct OwnedRecord {
  RecordKind kind = RecordKind::result;
  std::string trial;
  RuleResult result = {};
  std::optional<Finding> finding = {};
  std::size_t findings = 0;

  static OwnedRecord of(const ReportRecord& record);
  /// Valid as long as this, and until it is moved.
  [[nodiscard]] ReportRecord view() const noexcept {
    return {kind, trial, result, finding ? &*finding : nullptr, findings};
  }
};

/// The index of a key that an option (`--sort`) names. @throws UsageError.
[[nodiscard]] std::size_t record_key(std::string_view option, std::string_view name);

/// The one of an enumeration's values up to `last` that `to_string` gives this name; nullopt if none has it.
template <class Kind>
[[nodiscard]] std::optional<Kind> kind_by_name(std::string_view name, Kind last) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) {
    if (to_string(static_cast<Kind>(i)) == name) {
      return static_cast<Kind>(i);
    }
  }
  return std::nullopt;
}

/// The exit status that a result gives the command, whatever else was wrong.
[[nodiscard]] ExitStatus result_status(const RuleResult& result) noexcept;

/// `step 120 (train 118)`, `step 120` if no mode was set, or empty.
[[nodiscard]] std::string place_text(const Finding& finding);
/// A result for people: place and finding, or why there is no finding.
[[nodiscard]] std::string result_text(const ReportRecord& record);

/// The last of the JSON lines of a part. Its presence shows --merge that nothing was cut off.
struct PartLine {
  Shard shard;
  std::uint64_t trials = 0;             ///< Of the whole,
  bool several = false;                 ///< and whether its reports name them.
  std::string whole = {};               ///< The same for all parts of one whole: see `digest_of`.
  std::uint64_t records = 0;            ///< The lines ahead of this one.
  ExitStatus status = ExitStatus::yes;  ///< Of the part.
};

/// A line that smd-rule did not write.
struct ForeignLine {};

/// Parses a line of `smd-rule --jsonl`. What --precision, --nonfinite null and --columns left out is not guessed: a
/// record without a key of its kind is foreign.
[[nodiscard]] std::variant<ForeignLine, OwnedRecord, PartLine> parse_result_line(std::string_view line);

/// The line, without its end.
[[nodiscard]] std::string to_json(const PartLine& part);

/// A digest that distinguishes wholes by their trials and rules: 16 hexadecimal digits, of no other meaning.
[[nodiscard]] std::string digest_of(std::span<const std::string> trials, const std::vector<RuleRequest>& requests);

}  // namespace smd::tool::rule
