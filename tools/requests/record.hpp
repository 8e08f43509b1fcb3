// SPDX-License-Identifier: Apache-2.0
// Results of rules as records: the keys that smd-rule prints, and JSON objects of them.
#pragma once

#include "rows/cell.hpp"
#include "rows/row_writer.hpp"

#include <smd/rule_result.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::tool {

enum class RecordKind : std::uint8_t { finding, result };

/// What is reported: one finding, or what became of one rule on one trial. Borrows everything.
struct ReportRecord {
  RecordKind kind = RecordKind::result;
  std::string_view trial;
  const RuleResult& result;  ///< Of a finding: only its names are known for sure.
  const Finding* finding;    ///< Of a result: the first, or null.
  std::size_t findings = 0;  ///< Of a result: how many there are.
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

/// Whether a finding measured something: a rule in Python only says that its condition is met.
[[nodiscard]] bool measured(const Finding& finding) noexcept;

}  // namespace smd::tool
