// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace smd::tool::diff {

namespace {

Cell cell_of(const std::optional<double>& number) { return number ? Cell(*number) : Cell(); }
Cell cell_of(const std::optional<GlobalStep>& step) { return step ? Cell(step->value) : Cell(); }

class RowsView : public DiffView {
 public:
  RowsView(OutputFile& out, const DiffCommandOptions& options, std::string_view trial, Diagnostics& messages)
      : by_(options.by),
        all_(options.all),
        only_reasons_(options.output.format == "table" && options.output.columns.empty()),
        columns_(row_columns(options.by)),
        rows_(out, options.output, columns_, false, messages) {
    rows_.set_trial(trial);
  }

  void row(const DiffRow& row) override {
    if (row.state == State::equal && !all_) {
      return;
    }
    cells_.clear();
    if (by_.tensor) {
      cells_.emplace_back(row.tensor);
    }
    if (by_.step) {
      cells_.push_back(cell_of(row.step));
      cells_.push_back(cell_of(row.step_b));
    }
    if (by_.worker) {
      cells_.emplace_back(row.worker);
    }
    cells_.emplace_back(to_string(row.state));
    const std::size_t before = cells_.size();
    if (row.statistics) {
      const Difference& of = *row.statistics;
      cells_.emplace_back(of.size);
      cells_.emplace_back(of.differing);
      for (const auto& number :
           {of.max_abs, of.max_rel, of.mean_abs, of.rmse, of.l2_a, of.l2_b, of.l2_diff, of.rel_l2, of.cosine}) {
        cells_.push_back(cell_of(number));
      }
      if (of.first && row.a.shape != nullptr && !row.a.shape->empty()) {
        Shape shape = *row.a.shape;  // of what was compared: with --common, of what both have
        for (std::size_t axis = 0; row.state == State::shape && axis < shape.size(); ++axis) {
          shape[axis] = std::min(shape[axis], (*row.b.shape)[axis]);
        }
        find_index(*of.first, shape);
        cells_.emplace_back(IndexCell{index_});
      }
    }
    constexpr std::size_t statistics = 12;
    cells_.resize(before + statistics);
    if (by_ == By()) {
      const bool shapes = !only_reasons_ || row.state == State::shape;
      const bool dtypes = !only_reasons_ || row.state == State::dtype;
      cells_.push_back(shapes && row.a.shape != nullptr ? Cell(ShapeCell{*row.a.shape}) : Cell());
      cells_.push_back(shapes && row.b.shape != nullptr ? Cell(ShapeCell{*row.b.shape}) : Cell());
      cells_.push_back(dtypes && !row.a.dtype.empty() ? Cell(row.a.dtype) : Cell());
      cells_.push_back(dtypes && !row.b.dtype.empty() ? Cell(row.b.dtype) : Cell());
    }
    rows_.row(cells_);
  }

  void finish() override { rows_.finish(); }

 private:
  void find_index(std::uint64_t element, const Shape& shape) {
    index_.resize(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const auto size = static_cast<std::uint64_t>(shape[axis]);
      index_[axis] = static_cast<std::int64_t>(element % size);
      element /= size;
    }
  }

  By by_;
  bool all_;
  bool only_reasons_;  // shapes and dtypes only where they are what differs
  std::vector<Column> columns_;
  RowWriter rows_;
  std::vector<Cell> cells_;
  std::vector<std::int64_t> index_;
};

/// Counts tensors.
class SummaryView : public DiffView {
 public:
  SummaryView(OutputFile& out, const DiffCommandOptions& options, std::string_view trial, Diagnostics& messages)
      : columns_(summary_columns()), rows_(out, options.output, columns_, false, messages) {
    rows_.set_trial(trial);
  }

  void begin() override { compared_ = true; }

  void row(const DiffRow& row) override {
    auto known = tensors_.find(row.tensor);
    if (known == tensors_.end()) {
      known = tensors_.emplace(row.tensor, row.state).first;
    }
    known->second = together(known->second, row.state);
    if (row.state != State::equal && !first_step_) {
      first_step_ = row.step ? row.step : row.step_b;
    }
    if (row.statistics && row.statistics->max_abs) {
      max_abs_ = std::max(max_abs_.value_or(0), *row.statistics->max_abs);
    }
  }

  void finish() override {
    if (compared_) {
      print();
    }
    rows_.finish();
  }

 private:
  void print() {
    std::map<State, std::uint64_t> counts;
    for (const auto& [tensor, state] : tensors_) {
      ++counts[state];
    }
    rows_.row({tensors_.size(), counts[State::equal],
               counts[State::differs] + counts[State::dtype] + counts[State::shape], counts[State::only_a],
               counts[State::only_b], cell_of(first_step_), cell_of(max_abs_), counts[State::dtype],
               counts[State::shape]});
  }

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

  std::vector<Column> columns_;
  RowWriter rows_;
  bool compared_ = false;
  std::map<std::string, State, std::less<>> tensors_;
  std::optional<GlobalStep> first_step_;
  std::optional<double> max_abs_;
};

}  // namespace

std::string_view to_string(State state) noexcept {
  constexpr std::array<std::string_view, 7> names = {"equal",  "differs", "dtype", "shape",
                                                     "only_a", "only_b",  "unread"};
  return names[static_cast<std::size_t>(state)];
}

std::unique_ptr<DiffView> make_view(OutputFile& out, const DiffCommandOptions& options,
                                    std::span<const std::string> operands, Diagnostics& messages) {
  if (options.svg()) {
    return make_picture_view(out, options, operands, messages);
  }
  if (options.summary) {
    return std::make_unique<SummaryView>(out, options, operands.front(), messages);
  }
  return std::make_unique<RowsView>(out, options, operands.front(), messages);
}

}  // namespace smd::tool::diff
