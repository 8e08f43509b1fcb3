// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "operands/operands.hpp"
#include "options.hpp"
#include "session.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// The result of reducing a selection. Of several, the greatest counts.
enum class ReduceOutcome : std::uint8_t {
  nothing,  ///< There is nothing to reduce.
  no_row,   ///< Everything is without statistics (strings) or damaged, which is reported.
  rows,
};

/// Shows rows of results, which come in the documented order.
class ResultView {
 public:
  virtual ~ResultView() = default;
  virtual void set_trial(std::string_view name) = 0;
  virtual void row(const ResultRow& row) = 0;
  /// The followed trial that the next rows are of, as it is now.
  virtual void follow(const Trial& /*trial*/) {}
  /// How many rows were shown, if that matters: in a shard.
  [[nodiscard]] virtual std::size_t rows() const { return 0; }
  /// A view that makes text of rows of the trial set last, which this one prints unchanged; null if this view needs the
  /// rows themselves. Used in any thread, but in one at a time.
  [[nodiscard]] virtual std::unique_ptr<ResultView> text_view() const { return nullptr; }
  /// For such a view: moves the text of the rows since the last call into `text`, and reuses the capacity of `text`.
  virtual void take(std::string& /*text*/) {}
  /// Appends the text of `rows` rows that a `text_view` of this view made.
  virtual void append(std::string_view /*text*/, std::size_t /*rows*/) {}
  /// A view for one of several trials that are visited side by side, whose rows this one shows in turn; null if this
  /// view needs them one trial after the other.
  [[nodiscard]] virtual std::unique_ptr<ResultView> in_turn(Turn& /*turn*/) { return nullptr; }
  /// For such a view: passes on what it holds, once its turn has come.
  virtual void show() {}
  /// At the end of a followed step: prints what is held back.
  virtual void end_step() {}
  virtual void finish() = 0;
};

/// What views are made of; everything must outlive them.
struct ResultContext {
  OutputFile& out;
  const ReduceCommandOptions& options;
  Diagnostics& messages;
  const std::vector<Wanted>& wanted;
  By by;
  bool several_trials = false;
  bool smoothed = false;  ///< `wanted` has the smoothed statistic after each.
};

/// Reduces what is selected of a trial, in parallel and piece by piece, and shows rows in the documented order. Records
/// are pooled in the same order for any number of threads. Reports once what is unavailable. Several trials: pooled.
ReduceOutcome reduce_trials(std::span<const Session* const> sessions, const std::vector<Wanted>& wanted,
                            ResultView& view, Diagnostics& messages);

/// Pools the rows of shards and shows them, in the order that reducing the whole would give. The reductions, and what
/// rows are grouped by, are taken from the first row. Returns whether there was a row.
/// @throws UsageError if shards do not belong together, or were made with options whose results cannot be pooled.
bool merge_shards(const std::vector<std::string>& files, OutputFile& out, const ReduceCommandOptions& options,
                  Diagnostics& messages);

std::unique_ptr<ResultView> make_rows_view(const ResultContext& context);
std::unique_ptr<ResultView> make_result_view(const ResultContext& context);

}  // namespace smd::tool::reduce
