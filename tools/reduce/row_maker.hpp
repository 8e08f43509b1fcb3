// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <smd/reduction.hpp>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "record_sink.hpp"
#include "result_view.hpp"
#include "row_plan.hpp"
#include "session.hpp"
#include "statistic.hpp"
#include "unavailable.hpp"

namespace smd::tool::reduce {

/// What rows are made of: some steps and some tensors.
struct Piece {
  std::span<const SelectedStep> steps;
  std::span<const std::string> tensors;
};

/// Makes the rows of one piece after another, each row of one entry, and keeps what is made until it is shown. Used by
/// one thread at a time.
class RowMaker {
 public:
  RowMaker(const Session& session, const ReduceCommandOptions& options, const std::vector<Wanted>& wanted,
           const ResultView& view);

  /// Reads, reduces and, if the view takes text, writes the text of all rows of a piece.
  void make(const Piece& piece, BlockReader& reader);
  /// Reports problems, and passes the rows to the view. Returns whether there are any.
  bool show(ResultView& view, Diagnostics& messages);

  [[nodiscard]] std::size_t entries() const noexcept { return rows_.size(); }
  [[nodiscard]] const Unavailable& unavailable() const noexcept { return unavailable_; }

 private:
  struct Row {
    std::string_view tensor;
    std::string_view worker;
    GlobalStep step;
    Mode mode = Mode::global;
    ModeStep mode_step;
    bool superseded = false;
    PlaceCell written;
    const RowPlan* plan = nullptr;
  };
  struct RecordToRead {
    std::uint32_t file = 0;
    std::uint32_t row = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::string_view name;          // in the record
    std::size_t statistic = value;  // of a saved reduction
    std::shared_ptr<const BareValue> bare = {};

    static constexpr std::size_t value = ~std::size_t{0};
  };
  using Said = std::function<void(Diagnostics&)>;

  void clear();
  void take(const TensorEntry& entry);
  [[nodiscard]] const RowPlan& plan_of(const TensorEntry& entry);
  std::uint32_t file_of(const std::string& name);
  void read(BlockReader& reader);
  void read_file(const std::string& file, std::span<const RecordToRead> records, BlockReader& reader);
  void aim(const RecordToRead& record);
  void finish(const RecordToRead& record, const std::optional<Problem>& problem);
  void take_saved(const RecordToRead& record);
  void take_computed(const RecordToRead& record);
  void fail(const RecordToRead& record);
  [[nodiscard]] std::span<Statistic> statistics_of(std::size_t row) {
    return std::span(statistics_).subspan(row * wanted_.size(), wanted_.size());
  }
  /// False if everything in the row is damaged.
  bool fill(std::size_t index, ResultRow& row);

  const Session& session_;
  const ReduceCommandOptions& options_;
  const std::vector<Wanted>& wanted_;
  std::unique_ptr<RowText> text_view_;  // null: the view has the rows themselves
  RecordSink sink_;
  RowPlans plans_;
  std::vector<How> how_;
  const RowPlan* plain_[2] = {};  // of entries without saved reductions: without and with a value

  std::vector<Row> rows_;
  std::vector<Statistic> statistics_;                      // by row, then by what is wanted
  std::vector<bool> failed_;                               // as in statistics_; empty if none
  std::vector<std::optional<PartialReduction>> partials_;  // by row; for shards only
  std::vector<RecordToRead> records_;
  std::vector<std::string> files_;  // the first `file_count_` are in use
  std::uint32_t file_count_ = 0;
  std::uint32_t last_file_ = 0;
  std::unordered_map<std::string, std::uint32_t> file_ids_;  // if there are many
  std::deque<std::string> names_;
  std::vector<RecordRange> ranges_;
  Unavailable unavailable_;
  bool any_unavailable_ = false;  // whether unavailable_ has any
  std::vector<Said> said_;
  std::string text_;
  std::size_t text_rows_ = 0;
};

}  // namespace smd::tool::reduce
