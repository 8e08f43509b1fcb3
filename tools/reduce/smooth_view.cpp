// SPDX-License-Identifier: Apache-2.0
// --smooth: passes rows on to another view, with the smoothed statistic after each.
#include "result_view.hpp"
#include "rows/exponential_mean.hpp"

#include <map>
#include <tuple>

namespace smd::tool::reduce {

namespace {

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

}  // namespace

std::unique_ptr<ResultView> make_smooth_view(const ResultContext& context) {
  return std::make_unique<SmoothView>(context);
}

}  // namespace smd::tool::reduce
