// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"
#include "result_view.hpp"
#include "rows/cell.hpp"

#include <algorithm>

namespace smd::tool::reduce {

namespace {

bool asks_for_count(const ResultContext& context) {
  return std::ranges::any_of(context.wanted, [](const Wanted& wanted) { return wanted.name == "count"; });
}

std::vector<Column> columns_of(const ResultContext& context) {
  std::vector<Column> columns = group_columns(context.by, context.options.across);
  columns.push_back({"source"});
  for (const Wanted& wanted : context.wanted) {
    Column& column = columns.emplace_back(Column{wanted.name, Align::right});
    column.asked = context.options.reductions_given;
  }
  if (context.options.shard) {
    // The columns that --merge needs.
    if (!asks_for_count(context)) {
      columns.push_back({"count", Align::right, false, true});
    }
    columns.push_back({"partial", Align::left, false, true});
  }
  if (!context.options.merge) {
    const std::vector<Column> last = last_columns(context.options.reading.superseded);
    columns.insert(columns.end(), last.begin(), last.end());
  }
  return columns;
}

/// Where a view writes that makes text, and its options.
struct Memory {
  ReduceCommandOptions options;
  OutputFile file = OutputFile::memory();
};

class RowsView : public ResultView {
 public:
  explicit RowsView(const ResultContext& context)
      : context_(context),
        counted_(asks_for_count(context)),
        rows_(context.out, context.options.output, columns_of(context), context.several_trials, context.messages),
        timed_(context.options.output.names("time")) {}

  /// For one of several trials.
  RowsView(RowsView& to, Turn& turn)
      : context_(to.context_), counted_(to.counted_), rows_(to.rows_, turn), timed_(to.timed_) {}

  /// Writes rows of a trial to memory.
  RowsView(const ResultContext& like, std::string_view trial, std::unique_ptr<Memory> memory)
      : RowsView({memory->file, memory->options, like.messages, like.wanted, like.by, like.several_trials}) {
    memory_ = std::move(memory);
    set_trial(trial);
  }

  [[nodiscard]] std::unique_ptr<ResultView> in_turn(Turn& turn) override {
    return std::make_unique<RowsView>(*this, turn);
  }
  void show() override { rows_.show(); }

  void set_trial(std::string_view name) override {
    rows_.set_trial(name);
    trial_ = name;
  }

  [[nodiscard]] std::unique_ptr<ResultView> text_view() const override {
    if (!rows_.rows_stand_alone()) {
      return nullptr;
    }
    auto memory = std::make_unique<Memory>(Memory{context_.options});
    memory->options.output.header = false;
    return std::make_unique<RowsView>(context_, trial_, std::move(memory));
  }
  void take(std::string& text) override { memory_->file.take_text(text); }
  void append(std::string_view text, std::size_t rows) override { rows_.append(text, rows); }

  void row(const ResultRow& row) override {
    cells_.clear();
    add_group_cells(cells_, row, context_.by, context_.options.across);
    cells_.push_back(or_missing(row.source));
    std::ranges::transform(row.statistics, std::back_inserter(cells_), &Statistic::cell);
    if (context_.options.shard) {
      if (!counted_) {
        cells_.push_back(row.partial.empty() ? Cell() : Cell(row.count));
      }
      cells_.push_back(or_missing(row.partial));
    }
    if (!context_.options.merge) {
      time_text_ = row.wall_time && timed_ ? time_text(*row.wall_time) : std::string();
      cells_.insert(cells_.end(), {or_missing(row.wall_time), or_missing(time_text_), or_missing(row.elapsed),
                                   row.superseded, row.written});
    }
    rows_.row(cells_);
  }

  [[nodiscard]] std::size_t rows() const override { return rows_.rows(); }
  void end_step() override { rows_.end_step(); }
  void finish() override { rows_.finish(); }

 private:
  std::unique_ptr<Memory> memory_;  // null: of another kind of view
  ResultContext context_;
  bool counted_;  // the count is among the statistics
  RowWriter rows_;
  bool timed_;  // the column `time` is asked for
  std::string time_text_;
  std::string trial_;
  std::vector<Cell> cells_;
};

}  // namespace

std::unique_ptr<ResultView> make_rows_view(const ResultContext& context) { return std::make_unique<RowsView>(context); }

}  // namespace smd::tool::reduce
