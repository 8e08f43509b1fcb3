// SPDX-License-Identifier: Apache-2.0
// Views over the steps of a series: --smooth; --spark and -f svg; --pivot.
#include "cli/exit_status.hpp"
#include "cli/mapped.hpp"
#include "columns.hpp"
#include "result_view.hpp"
#include "rows/curves.hpp"
#include "rows/row_writer.hpp"
#include "select/select_steps.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace smd::tool::reduce {

namespace {

/// --smooth: passes rows on to another view, with the smoothed statistic after each.
class SmoothView : public ResultView {
 public:
  explicit SmoothView(const ResultContext& context)
      : weight_(*context.options.smooth), selection_(context.options.selection) {
    for (const Wanted& one : context.wanted) {
      wanted_.push_back(one);
      wanted_.push_back({.name = one.name + "_smooth", .reduction = {}});
    }
    view_ = make_result_view(
        {context.out, context.options, context.messages, wanted_, context.by, context.several_trials, true});
  }

  void set_trial(std::string_view name) override {
    if (trial_now_ == nullptr) {  // else steps of several trials come in turn
      series_.clear();
    }
    trial_ = name;
    view_->set_trial(name);
  }

  void follow(const Trial& trial) override { trial_now_ = &trial; }

  void row(const ResultRow& row) override {
    std::vector<SmoothedSeries>& series =
        series_[{trial_, std::string(row.tensor), std::string(row.worker), row.row, row.mode}];
    series.resize(row.statistics.size(), {weight_});
    statistics_.clear();
    for (std::size_t i = 0; i < row.statistics.size(); ++i) {
      const Statistic& one = row.statistics[i];
      statistics_.push_back(one);
      if (!one.missing()) {
        drop_superseded(row, series[i].points);
      }
      statistics_.push_back(one.missing() ? Statistic() : Statistic(Cell(series[i].put(row.step.value, one.number()))));
    }
    if (row.selected) {
      ResultRow with_means = row;
      with_means.statistics = statistics_;
      view_->row(with_means);
    }
  }

  void end_step() override { view_->end_step(); }
  void finish() override { view_->finish(); }

 private:
  // Drops the last numbers of the row's series, and those just before the row, if they were superseded. Without -F: all
  // but the last, which do not change any more.
  void drop_superseded(const ResultRow& row, std::vector<SmoothedSeries::Point>& points) const {
    if (trial_now_ == nullptr) {
      points.erase(points.begin(), points.empty() ? points.end() : std::prev(points.end()));
      return;
    }
    EntryQuery query;
    query.tensors = row.tensor.empty() ? tensors_at(*trial_now_, selection_, {}) : std::vector{std::string(row.tensor)};
    query.workers.assign(row.worker.empty() ? 0 : 1, std::string(row.worker));
    for (const std::int64_t end : {INT64_MAX, row.step.value}) {
      for (auto place = std::ranges::lower_bound(points, end, {}, &SmoothedSeries::Point::step);
           place != points.begin(); place = points.erase(std::prev(place))) {
        query.steps = {{GlobalStep(std::prev(place)->step)}};
        if (any_entry(*trial_now_, query)) {
          break;
        }
      }
    }
  }

  double weight_;
  const SelectionOptions& selection_;
  std::vector<Wanted> wanted_;
  std::unique_ptr<ResultView> view_;
  std::string trial_;
  const Trial* trial_now_ = nullptr;  ///< If trials are followed.
  std::map<std::tuple<std::string, std::string, std::string, std::uint64_t, Mode>, std::vector<SmoothedSeries>> series_;
  std::vector<Statistic> statistics_;
};

/// --spark: a line for each tensor, worker, mode and reduction, with its curve over the steps. -f svg:
/// a chart of them.
class SparkView : public ResultView {
 public:
  explicit SparkView(const ResultContext& context)
      : smoothed_(context.smoothed),
        curves_(context.out, context.options.output, context.options.picture, context.several_trials,
                context.options.following.follow, names_of(context), context.messages) {}

  void set_trial(std::string_view name) override { curves_.set_trial(name); }

  void row(const ResultRow& row) override {
    for (std::size_t i = 0; i < row.statistics.size(); ++i) {
      const Curves::Point point = {.tensor = row.tensor,
                                   .worker = row.worker,
                                   .mode = row.mode,
                                   .smooth = smoothed_ && i % 2 != 0,
                                   .reduction = smoothed_ ? i / 2 : i,
                                   .step = row.step.value,
                                   .mode_step = row.mode_step.value,
                                   .written = row.written};
      if (row.statistics[i].missing()) {
        curves_.skip(point);
      } else {
        curves_.add(point, row.statistics[i].number());
      }
    }
  }

  void end_step() override { curves_.end_step(); }
  void finish() override { curves_.finish("choose tensors with -n or -e, or statistics with -r"); }

 private:
  static std::vector<std::string> names_of(const ResultContext& context) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < context.wanted.size(); i += context.smoothed ? 2 : 1) {
      names.push_back(context.wanted[i].name);
    }
    return names;
  }

  bool smoothed_;
  CurvesView curves_;
};

/// --pivot: a row for each step, a column for each tensor. Held until the end, when all names are known.
class PivotView : public ResultView {
 public:
  explicit PivotView(const ResultContext& context)
      : context_(context), by_{.tensor = false, .worker = context.by.worker && context.options.selection.all_workers} {
    refuse_if(context.wanted.size() != 1, "--pivot shows one reduction, and there are " +
                                              std::to_string(context.wanted.size()) + ": choose one with -r");
  }

  void set_trial(std::string_view name) override { trials_.emplace_back(name); }

  void row(const ResultRow& row) override {
    tensors_.emplace(row.tensor);
    LineKey key = {trials_.size(), row.step, row.mode, row.mode_step, by_.worker ? std::string(row.worker) : "", 0};
    const std::string tensor(row.tensor);
    if (lines_[key].statistics.contains(tensor)) {
      std::get<5>(key) = ++more_[{key, tensor}];
    }
    Line& line = lines_[key];
    line.statistics.emplace(tensor, row.statistics.front());
    const std::uint64_t trials = std::max(line.facts.trials, row.trials);
    line.facts = {.step = row.step, .mode = row.mode, .mode_step = row.mode_step, .trials = trials};
  }

  void finish() override {
    std::vector<Column> columns = group_columns(by_, context_.options.across);
    // Two columns of one name would hide the step. JSON always has the trial's column.
    std::set<std::string> taken = {"trial", std::string(written_column.name)};
    std::ranges::transform(columns, std::inserter(taken, taken.end()),
                           [](const Column& one) { return std::string(one.name); });
    for (const std::string& tensor : tensors_) {
      std::string name = tensor;
      while (taken.contains(name)) {
        name.insert(0, "scalar.");
      }
      const bool asked = contains(context_.options.selection.names, tensor);
      columns.push_back({.name = *taken.insert(name).first, .align = Align::right, .asked = asked});
    }
    columns.push_back(written_column);
    RowWriter rows(context_.out, context_.options.output, columns, context_.several_trials, context_.messages);
    std::vector<Cell> cells;
    for (auto& [key, line] : lines_) {
      const auto& [trial, step, mode, mode_step, worker, nth] = key;
      line.facts.worker = worker;
      rows.set_trial(trials_[trial - 1]);
      cells.clear();
      add_group_cells(cells, line.facts, by_, context_.options.across);
      for (const std::string& name : tensors_) {
        const auto found = line.statistics.find(name);
        cells.push_back(found == line.statistics.end() ? Cell() : found->second.cell());
      }
      cells.emplace_back(PlaceCell{step.value, 0});
      rows.row(cells);
    }
    rows.finish();
  }

 private:
  /// Trial (from 1), step, mode, the mode's step, worker. Workers may claim different modes for one step, and with
  /// --superseded a step may have several values: the last part counts its lines.
  using LineKey = std::tuple<std::size_t, GlobalStep, Mode, ModeStep, std::string, std::size_t>;
  struct Line {
    RowFacts facts;
    std::map<std::string, Statistic, std::less<>> statistics;
  };

  ResultContext context_;
  By by_;
  std::vector<std::string> trials_;
  std::set<std::string, std::less<>> tensors_;
  std::map<LineKey, Line> lines_;
  std::map<std::pair<LineKey, std::string>, std::size_t> more_;  // how many more values a tensor has at a line
};

}  // namespace

std::unique_ptr<ResultView> make_result_view(const ResultContext& context) {
  if (context.options.smooth && !context.smoothed) {
    return std::make_unique<SmoothView>(context);
  }
  switch (context.options.view) {
    case ReduceViewKind::pivot:
      return std::make_unique<PivotView>(context);
    case ReduceViewKind::spark:
      return std::make_unique<SparkView>(context);
    case ReduceViewKind::rows:
    case ReduceViewKind::hist:
      break;
  }
  return context.options.svg() ? std::make_unique<SparkView>(context) : make_rows_view(context);
}

}  // namespace smd::tool::reduce
