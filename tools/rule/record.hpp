// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/exit_status.hpp"
#include "operands/shard.hpp"
#include "requests/requests.hpp"
#include "rows/cell.hpp"
#include "rows/row_writer.hpp"

#include <smd/rule_result.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smd::tool::rule {

enum class RecordKind : std::uint8_t { finding, result };

/// What is reported: one finding, or what became of one rule on one trial. Borrows everything.
struct ReportRecord {
  RecordKind kind = RecordKind::result;
  std::string_view trial;
  const RuleResult& result;  ///< Of a finding: only its names are known for sure.
  const Finding* finding;    ///< Of a result: the first, or null.
  std::size_t findings = 0;  ///< Of a result: how many there are.
};

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

class RecordCells;

/// A key of records, in the order in which they are printed.
struct RecordKey {
  std::string_view name;
  bool in_finding;                             ///< Whether a finding has a value for it.
  Align align;                                 ///< In tables.
  Cell (*of_finding)(const Finding& finding);  ///< Missing without a finding. Null: of the record.
  Cell (*of_record)(const ReportRecord& record, RecordCells& cells);
};

[[nodiscard]] std::span<const RecordKey> record_keys();
/// The index of a key that an option (`--sort`) names. @throws UsageError.
[[nodiscard]] std::size_t record_key(std::string_view option, std::string_view name);

/// The cells of a record, one for each key, and what they borrow. Made anew by `fill`.
class RecordCells {
 public:
  const std::vector<Cell>& fill(const ReportRecord& record);
  /// Keeps texts as long as the cells.
  [[nodiscard]] ListCell list(std::vector<std::string> texts) { return {lists_.emplace_back(std::move(texts))}; }

 private:
  std::vector<Cell> cells_;
  std::deque<std::vector<std::string>> lists_;
};

/// `train/loss:val/loss`, as the parameter `pairs` has it.
[[nodiscard]] std::vector<std::string> pair_texts(const std::vector<TensorPair>& pairs);

/// A record as a JSON object, of these keys (indices into `record_keys`; none given: those of its kind). Strings that
/// are not UTF-8 lose the bytes that are wrong.
[[nodiscard]] std::string record_json(const ReportRecord& record, const std::vector<std::size_t>& chosen, int precision,
                                      NonFinite nonfinite);

/// Of a result with status Error: the error's kind, or `unread`; empty for other results.
[[nodiscard]] std::string_view kind_of(const RuleResult& result) noexcept;

/// The exit status that a result gives the command, whatever else was wrong.
[[nodiscard]] ExitStatus result_status(const RuleResult& result) noexcept;

/// Whether a finding measured something: a rule in Python only says that its condition is met.
[[nodiscard]] bool measured(const Finding& finding) noexcept;

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
