// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/in_turn.hpp"
#include "cli/output_file.hpp"
#include "options.hpp"
#include "reduction_list.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// Makes rows into text that a view takes as it is. In any thread, but in one at a time.
class RowText {
 public:
  virtual ~RowText() = default;
  virtual void row(const ResultRow& row) = 0;
  /// The text of the rows since the last time, in exchange for one whose room is to be used again.
  virtual void take(std::string& text) = 0;
};

/// What reducing a selection gave. Of several, the greatest counts.
enum class ReduceOutcome : std::uint8_t {
  nothing,  ///< There is nothing.
  no_row,   ///< What there is has no statistics (strings), or is damaged; reported.
  rows,
};

/// Shows rows of results, which come in the promised order.
class ResultView {
 public:
  virtual ~ResultView() = default;
  virtual void set_trial(std::string_view name) = 0;
  /// The most rows that will still be shown, where --limit bounds them; nullopt: all.
  [[nodiscard]] virtual std::optional<std::size_t> room() const { return std::nullopt; }
  virtual void row(const ResultRow& row) = 0;
  /// For rows of the trial set last; null if the view must have the rows themselves.
  [[nodiscard]] virtual std::unique_ptr<RowText> row_text() const { return nullptr; }
  /// Takes the text of so many rows that a `row_text` of this view made.
  virtual void append(std::string_view /*text*/, std::size_t /*rows*/) {}
  /// A view for one of several trials that are visited side by side, whose rows this one shows in turn; null if this
  /// view must have them one trial after the other.
  [[nodiscard]] virtual std::unique_ptr<ResultView> in_turn(Turn& /*turn*/) { return nullptr; }
  /// Of such a view: hands on what it holds, when the turn has come.
  virtual void show() {}
  /// Following: a step is over; pass on what there is.
  virtual void end_step() {}
  virtual void finish() = 0;
};

/// What views are made of; all outlive them.
struct ResultContext {
  OutputFile& out;
  const ReduceCommandOptions& options;
  Diagnostics& messages;
  const std::vector<Wanted>& wanted;
  By by;
  bool several_trials = false;
};

std::unique_ptr<ResultView> make_rows_view(const ResultContext& context);
std::unique_ptr<ResultView> make_pivot_view(const ResultContext& context);
std::unique_ptr<ResultView> make_spark_view(const ResultContext& context);
std::unique_ptr<ResultView> make_result_view(const ResultContext& context);

}  // namespace smd::tool::reduce
