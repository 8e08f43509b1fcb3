// SPDX-License-Identifier: Apache-2.0
#include "view.hpp"

#include "cli/mapped.hpp"
#include "piece.hpp"
#include "rows/curves.hpp"
#include "rows/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace smd::tool::diff {

namespace {

constexpr std::array<std::string_view, 7> state_names = {"equal",  "differs", "dtype", "shape",
                                                         "only_a", "only_b",  "unread"};

/// A row, and what its cells borrow.
struct ShownRow {
  const DiffRow& row;
  std::span<const std::int64_t> first;  ///< The index of the first element that differs; empty: not known.
  bool shapes;                          ///< Shown, if they are known.
  bool dtypes;
};

/// A column of rows about values, or about pools of them.
struct RowColumn {
  Column column;
  Cell (*cell)(const ShownRow& of);
  bool By::*by = nullptr;  ///< It is there only if rows are grouped by this.
};

template <auto statistic>
Cell statistic_cell(const ShownRow& of) {
  return of.row.statistics ? Cell((*of.row.statistics).*statistic) : Cell();
}
template <auto value>
Cell shape_cell(const ShownRow& of) {
  const Shape* const shape = (of.row.*value).shape;
  return of.shapes && shape != nullptr ? Cell(ShapeCell{*shape}) : Cell();
}
template <auto value>
Cell dtype_cell(const ShownRow& of) {
  const std::string& dtype = (of.row.*value).dtype;
  return of.dtypes && !dtype.empty() ? Cell(dtype) : Cell();
}

constexpr Column number_column(std::string_view name, bool in_table = false) {
  return {.name = name, .align = Align::right, .in_table = in_table};
}

std::vector<RowColumn> row_columns(By by) {
  std::vector<RowColumn> columns = {
      {{"tensor"}, [](const ShownRow& of) { return Cell(of.row.tensor); }, &By::tensor},
      {number_column("step", true), [](const ShownRow& of) { return Cell(of.row.step); }, &By::step},
      {number_column("step_b"), [](const ShownRow& of) { return Cell(of.row.step_b); }, &By::step},
      {{.name = "worker", .in_table = false}, [](const ShownRow& of) { return Cell(of.row.worker); }, &By::worker},
      {{"state"}, [](const ShownRow& of) { return Cell(state_names[static_cast<std::size_t>(of.row.state)]); }},
      {number_column("size"), statistic_cell<&Difference::size>},
      {number_column("differing", true), statistic_cell<&Difference::differing>},
      {number_column("max_abs", true), statistic_cell<&Difference::max_abs>},
      {number_column("max_rel"), statistic_cell<&Difference::max_rel>},
      {number_column("mean_abs"), statistic_cell<&Difference::mean_abs>},
      {number_column("rmse"), statistic_cell<&Difference::rmse>},
      {number_column("l2_a"), statistic_cell<&Difference::l2_a>},
      {number_column("l2_b"), statistic_cell<&Difference::l2_b>},
      {number_column("l2_diff"), statistic_cell<&Difference::l2_diff>},
      {number_column("rel_l2", true), statistic_cell<&Difference::rel_l2>},
      {number_column("cosine", true), statistic_cell<&Difference::cosine>},
      {{.name = "first", .in_table = false},
       [](const ShownRow& of) { return of.first.empty() ? Cell() : Cell(IndexCell{of.first}); }}};
  std::erase_if(columns, [&](const RowColumn& one) { return one.by != nullptr && !(by.*one.by); });
  if (by == By()) {
    columns.push_back({{.name = "shape_a", .if_any = true}, shape_cell<&DiffRow::a>});
    columns.push_back({{.name = "shape_b", .if_any = true}, shape_cell<&DiffRow::b>});
    columns.push_back({{.name = "dtype_a", .if_any = true}, dtype_cell<&DiffRow::a>});
    columns.push_back({{.name = "dtype_b", .if_any = true}, dtype_cell<&DiffRow::b>});
  }
  return columns;
}

class RowsView : public DiffView {
 public:
  RowsView(OutputFile& out, const DiffCommandOptions& options, std::string_view trial, Diagnostics& messages)
      : all_(options.all),
        only_reasons_(options.output.format == "table" && options.output.columns.empty()),
        columns_(row_columns(options.by)),
        rows_(out, options.output, mapped(columns_, &RowColumn::column), false, messages) {
    rows_.set_trial(trial);
  }

  void row(const DiffRow& row) override {
    if (row.state == State::equal && !all_) {
      return;
    }
    index_.clear();
    if (row.statistics && row.statistics->first && row.a.shape != nullptr) {
      const bool common = row.state == State::shape;  // with --common, what both have was compared
      index_ = index_of(*row.statistics->first, common ? common_shape(*row.a.shape, *row.b.shape) : *row.a.shape);
    }
    const ShownRow shown = {
        row, index_, !only_reasons_ || row.state == State::shape,
        !only_reasons_ || row.state == State::dtype || (row.state == State::differs && !row.statistics)};  // of scales
    rows_.row_of([&](std::size_t i) { return columns_[i].cell(shown); });
  }

  void finish() override { rows_.finish(); }

 private:
  bool all_;
  bool only_reasons_;  // shapes and dtypes only where they are what differs
  std::vector<RowColumn> columns_;
  RowWriter rows_;
  std::vector<std::int64_t> index_;
};

std::vector<Column> summary_columns() {
  constexpr std::array<std::string_view, 9> names = {"tensors",    "equal",   "differing", "only_a", "only_b",
                                                     "first_step", "max_abs", "dtype",     "shape"};
  return mapped(names, [](std::string_view name) { return Column{name, Align::right}; });
}

/// Counts tensors.
class SummaryView : public DiffView {
 public:
  SummaryView(OutputFile& out, const DiffCommandOptions& options, std::string_view trial, Diagnostics& messages)
      : rows_(out, options.output, summary_columns(), false, messages) {
    rows_.set_trial(trial);
  }

  void begin() override { compared_ = true; }

  void row(const DiffRow& row) override {
    State& known = tensors_.try_emplace(std::string(row.tensor), row.state).first->second;
    known = together(known, row.state);
    if (row.state != State::equal && !first_step_) {
      first_step_ = row.step ? row.step : row.step_b;
    }
    if (row.statistics && row.statistics->max_abs) {
      max_abs_ = std::max(max_abs_.value_or(0), *row.statistics->max_abs);
    }
  }

  void finish() override {
    if (compared_) {
      std::map<State, std::uint64_t> counts;
      for (const auto& [tensor, state] : tensors_) {
        ++counts[state];
      }
      rows_.row({tensors_.size(), counts[State::equal],
                 counts[State::differs] + counts[State::dtype] + counts[State::shape], counts[State::only_a],
                 counts[State::only_b], first_step_, max_abs_, counts[State::dtype], counts[State::shape]});
    }
    rows_.finish();
  }

 private:
  /// Returns the state of a tensor that has one at some steps and another at others.
  static State together(State a, State b) noexcept {
    const auto absent = [](State state) { return state == State::only_a || state == State::only_b; };
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
      if (one == other || (one == State::equal && !absent(other))) {
        return other;
      }
      if (one == State::unread && absent(other)) {
        return State::unread;
      }
    }
    return State::differs;
  }

  RowWriter rows_;
  bool compared_ = false;
  std::map<std::string, State> tensors_;
  std::optional<GlobalStep> first_step_;
  std::optional<double> max_abs_;
};

/// -f svg: how much the trials differ, over A's steps.
class PictureView : public DiffView {
 public:
  PictureView(OutputFile& out, const DiffCommandOptions& options, std::span<const std::string> operands,
              Diagnostics& messages)
      : out_(out), options_(options), messages_(messages) {
    curves_.set_trial(operands.size() > 1 ? fmt::format("a: {}, b: {}", operands.front(), operands.back())
                                          : operands.front());
  }

  void row(const DiffRow& row) override {
    any_row_ = true;
    if (!row.step) {  // a step of B only
      return;
    }
    const Difference of = row.statistics.value_or(Difference());
    // No norms are computed for equal bytes.
    const bool zero = row.state == State::equal && of.l2_diff == 0.0;
    const std::array<std::optional<double>, 3> numbers = {of.max_abs, of.l2_diff, zero ? of.l2_diff : of.rel_l2};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Curves::Point point = {.tensor = options_.by.tensor ? row.tensor : "",
                                   .worker = options_.by.worker ? row.worker : "",
                                   .reduction = i,
                                   .step = row.step->value,
                                   .mode_step = row.step->value};
      if (numbers[i]) {
        curves_.add(point, *numbers[i]);
      } else {
        curves_.skip(point);
      }
    }
  }

  void finish() override {
    const std::array<std::string, 3> names = {"max_abs", "l2_diff", "rel_l2"};
    const std::vector<Chart> charts = curves_.take_charts(names, options_.picture.scale);
    if (charts.empty() && any_row_) {  // the status alone, that the two are not the same, has another reason
      say_nothing_drawn(messages_);
    }
    write_charts(out_, charts, options_.picture, "choose tensors with -n or -e");
  }

 private:
  OutputFile& out_;
  const DiffCommandOptions& options_;
  Diagnostics& messages_;
  bool any_row_ = false;
  Curves curves_;
};

}  // namespace

std::vector<ColumnTable> column_tables() {
  return {column_table("", mapped(row_columns({}), &RowColumn::column)), column_table("--summary", summary_columns())};
}

std::unique_ptr<DiffView> make_view(OutputFile& out, const DiffCommandOptions& options,
                                    std::span<const std::string> operands, Diagnostics& messages) {
  if (options.svg()) {
    return std::make_unique<PictureView>(out, options, operands, messages);
  }
  if (options.summary) {
    return std::make_unique<SummaryView>(out, options, operands.front(), messages);
  }
  return std::make_unique<RowsView>(out, options, operands.front(), messages);
}

}  // namespace smd::tool::diff
