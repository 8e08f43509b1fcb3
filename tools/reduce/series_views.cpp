// SPDX-License-Identifier: Apache-2.0
// Views over the steps of a series: --smooth; --spark and -f svg.
#include "result_view.hpp"
#include "rows/curves.hpp"
#include "rows/exponential_mean.hpp"

#include <map>
#include <tuple>

namespace smd::tool::reduce {

namespace {

/// --smooth: passes rows on to another view, with the smoothed statistic after each.
class SmoothView : public ResultView {
 public:
  explicit SmoothView(const ResultContext& context)
      : weight_(*context.options.smooth), follows_(context.options.following.follow) {
    for (const Wanted& one : context.wanted) {
      wanted_.push_back(one);
      wanted_.push_back({.name = one.name + "_smooth", .reduction = {}});
    }
    view_ = make_result_view(
        {context.out, context.options, context.messages, wanted_, context.by, context.several_trials, true});
  }

  void set_trial(std::string_view name) override {
    if (!follows_) {  // else steps of several trials come in turn
      series_.clear();
    }
    trial_ = name;
    view_->set_trial(name);
  }

  // Rows that are not shown must come too, so other limits than the end do not matter.
  [[nodiscard]] std::optional<std::size_t> room() const override {
    return view_->room() == 0 ? std::optional<std::size_t>(0) : std::nullopt;
  }

  void row(const ResultRow& row) override {
    std::vector<ExponentialMean>& means =
        series_
            .try_emplace({trial_, std::string(row.tensor), std::string(row.worker), row.row}, row.statistics.size(),
                         ExponentialMean(weight_))
            .first->second;
    statistics_.clear();
    for (std::size_t i = 0; i < row.statistics.size(); ++i) {
      const Statistic& one = row.statistics[i];
      statistics_.push_back(one);
      statistics_.push_back(one.missing() ? Statistic() : Statistic(Cell(means[i].next(one.number()))));
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
  double weight_;
  bool follows_;
  std::vector<Wanted> wanted_;
  std::unique_ptr<ResultView> view_;
  std::string trial_;
  std::map<std::tuple<std::string, std::string, std::string, std::uint64_t>, std::vector<ExponentialMean>> series_;
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

}  // namespace

std::unique_ptr<ResultView> make_smooth_view(const ResultContext& context) {
  return std::make_unique<SmoothView>(context);
}

std::unique_ptr<ResultView> make_spark_view(const ResultContext& context) {
  return std::make_unique<SparkView>(context);
}

}  // namespace smd::tool::reduce
