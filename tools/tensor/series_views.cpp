// SPDX-License-Identifier: Apache-2.0
// Scalars over all steps: --spark and -f svg, --pivot.
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "rows/curves.hpp"
#include "rows/elements.hpp"
#include "rows/row_writer.hpp"
#include "value_view.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace smd::tool::tensor {

namespace {

/// --spark: a line for each scalar tensor, worker and mode, with its curve over the steps. -f svg: a chart of them.
class SparkView : public ValueView {
 public:
  explicit SparkView(ViewContext context)
      : options_(context.options),
        messages_(context.messages),
        curves_(context.out, context.options.output, context.options.picture, context.several_trials,
                context.options.following.follow, {}, context.messages) {}

  void set_trial(std::string_view name) override { curves_.set_trial(name); }

  void end_step() override { curves_.end_step(); }

  void show(const ValueKey& key, const TensorValue& value) override {
    if (!is_real(value.dtype()) || value.view().size() != 1) {
      others_.emplace(std::string(key.tensor), std::string(to_string(value.dtype())) + " " + to_string(value.shape()));
      return;
    }
    Curves::Point point = {.tensor = key.tensor,
                           .worker = key.worker,
                           .mode = key.mode,
                           .step = key.step.value,
                           .mode_step = key.mode_step.value,
                           .written = key.written};
    curves_.add(point, Elements(value.view()).number(0));
    if (key.smooth) {
      point.smooth = true;
      curves_.add(point, *key.smooth);
    }
  }

  void finish() override {
    if (!others_.empty() && curves_.empty()) {
      const auto& [name, what] = *others_.begin();
      const bool svg = options_.svg();
      std::string text = svg ? "-f svg" : "--spark";
      text += " draws scalars, and " + single_quoted(name) + " is " + what + ": pick an element with --slice, or see ";
      throw UsageError(text += svg ? "--hist, --heatmap and smd-reduce -f svg" : "smd-reduce --spark");
    }
    curves_.finish({});
    if (!others_.empty()) {
      messages_.note("not drawn, because not scalars: " + quoted_list(keys_of(others_), 3));
    }
  }

 private:
  const TensorOptions& options_;
  Diagnostics& messages_;
  CurvesView curves_;
  std::map<std::string, std::string> others_;
};

/// --pivot: a row for each step, with -w all for each step and worker; a column for each scalar, of several trials for
/// each scalar of each trial. All rows are held until the names of all columns are known. Those of followed trials come
/// with their steps, and the columns are of what is known at the first one.
class PivotView : public ValueView {
 public:
  explicit PivotView(ViewContext context) : context_(context) {}

  void show(const ValueKey& key, const TensorValue& value) override {
    if (!is_real(value.dtype()) || value.view().size() != 1) {
      others_.emplace(key.tensor);
      return;
    }
    if (!rows_) {
      expect(trial_, key.tensor);
    }
    const std::string name = column_name(trial_, key.tensor);
    const auto column = columns_.find(name);
    if (column == columns_.end()) {
      if (late_.insert(name).second) {
        context_.messages.warning("--pivot: left out, because it came after the first row: " + single_quoted(name) +
                                  "; with -n it has a column from the start");
      }
      return;
    }
    LineKey line = {key.step, key.mode, key.mode_step, with_worker() ? std::string(key.worker) : "", 0};
    const Cell cell = Elements(value.view()).cell(0);
    if (!lines_[line].try_emplace(column->second, cell).second) {
      std::get<std::size_t>(line) = ++more_[{line, column->second}];
      lines_[line].emplace(column->second, cell);
    }
  }

  void expect(std::string_view trial, std::string_view tensor) override {
    const std::string name = column_name(trial, tensor);
    if (columns_.try_emplace(name, columns_.size()).second) {
      named_.push_back({name, std::string(tensor)});
    }
  }

  [[nodiscard]] bool lays_out() const override { return !rows_ && !lines_.empty(); }

  void end_step() override {
    if (!lines_.empty()) {
      print();
      rows_->end_step();
    }
  }

  void finish() override {
    print();
    rows_->finish();
    if (!others_.empty()) {
      context_.messages.warning("--pivot: not single numbers, left out: " + quoted_list(others_, 3));
    }
    if (columns_.empty() && !others_.empty()) {
      context_.messages.raise(ExitStatus::no);
    }
  }

 private:
  /// Step, mode, the mode's step, worker (empty without -w all). Trials and workers may have different modes at one
  /// step, and with --superseded a step may have several values: the last part counts its lines.
  using LineKey = std::tuple<GlobalStep, Mode, ModeStep, std::string, std::size_t>;
  using Line = std::map<std::size_t, Cell>;  // by column, of numbers
  struct Scalar {
    std::string name;  // of its column
    std::string tensor;
  };

  [[nodiscard]] bool with_worker() const noexcept { return context_.options.selection.all_workers; }

  [[nodiscard]] std::string column_name(std::string_view trial, std::string_view tensor) const {
    return context_.several_trials ? std::string(trial) + ":" + std::string(tensor) : std::string(tensor);
  }

  // Names that were given stand as they were given, the others in natural order.
  void lay_out() {
    const std::vector<std::string>& asked = context_.options.selection.names;
    const auto place = [&](const Scalar& one) { return std::ranges::find(asked, one.tensor) - asked.begin(); };
    std::ranges::stable_sort(named_, [&](const Scalar& a, const Scalar& b) {
      return place(a) != place(b) ? place(a) < place(b) : naturally_before(a.name, b.name);
    });
    std::vector<Column> columns = pivot_view_columns();
    if (!with_worker()) {
      columns.pop_back();
    }
    std::set<std::string_view> taken = {"trial"};
    std::ranges::transform(columns, std::inserter(taken, taken.end()), &Column::name);
    for (Scalar& scalar : named_) {
      std::string& name = scalar.name;
      order_.push_back(columns_.at(name));
      while (taken.contains(name)) {
        name.insert(0, "scalar.");
      }
      taken.insert(name);
      columns.push_back({.name = name, .align = Align::right, .asked = !asked.empty()});
    }
    rows_.emplace(context_.out, context_.options.output, columns, false, context_.messages);
    rows_->set_trial(context_.several_trials ? std::string_view() : std::string_view(trial_));
  }

  void print() {
    if (!rows_) {
      lay_out();
    }
    std::vector<Cell> cells;
    for (const auto& [key, line] : lines_) {
      const auto& [step, mode, mode_step, worker, nth] = key;
      cells = {step, to_string(mode), mode_step};
      if (with_worker()) {
        cells.emplace_back(worker);
      }
      for (const std::size_t column : order_) {
        const auto found = line.find(column);
        cells.push_back(found == line.end() ? Cell() : found->second);
      }
      rows_->row(cells);
    }
    lines_.clear();
    more_.clear();
  }

  ViewContext context_;
  std::map<std::string, std::size_t, std::less<>> columns_;  // by name: in the order of their first values
  std::deque<Scalar> named_;                                 // of the columns; the row writer borrows their names
  std::vector<std::size_t> order_;                           // of the columns, as they are printed
  std::map<LineKey, Line> lines_;
  std::map<std::pair<LineKey, std::size_t>, std::size_t> more_;  // how many more values a column has at a line
  std::optional<RowWriter> rows_;
  std::set<std::string, std::less<>> others_;
  std::set<std::string, std::less<>> late_;
};

}  // namespace

std::vector<Column> pivot_view_columns() {
  return {{"step", Align::right}, {"mode"}, {"mode_step", Align::right}, {"worker"}};
}

std::unique_ptr<ValueView> make_spark_view(ViewContext context) { return std::make_unique<SparkView>(context); }

std::unique_ptr<ValueView> make_pivot_view(ViewContext context) { return std::make_unique<PivotView>(context); }

}  // namespace smd::tool::tensor
