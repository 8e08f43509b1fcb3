// SPDX-License-Identifier: Apache-2.0
// --spark: a line for each tensor, worker, mode and reduction, with its curve over the steps. -f svg:
// a chart of them.
#include "result_view.hpp"
#include "rows/curves.hpp"

namespace smd::tool::reduce {

namespace {

class SparkView : public ResultView {
 public:
  explicit SparkView(const ResultContext& context) : context_(context) {
    for (std::size_t i = 0; i < context_.wanted.size(); i += context_.smoothed ? 2 : 1) {
      names_.push_back(context_.wanted[i].name);
    }
  }

  void set_trial(std::string_view name) override { curves_.set_trial(name, context_.options.following.follow); }

  void end_step() override { live_.draw(context_.options.output, context_.several_trials, names_, false); }

  void row(const ResultRow& row) override {
    for (std::size_t i = 0; i < row.statistics.size(); ++i) {
      const Curves::Point point = {.tensor = row.tensor,
                                   .worker = row.worker,
                                   .mode = row.mode,
                                   .smooth = context_.smoothed && i % 2 != 0,
                                   .reduction = context_.smoothed ? i / 2 : i,
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

  void finish() override {
    if (context_.options.following.follow) {
      live_.draw(context_.options.output, context_.several_trials, names_, true);
      return;
    }
    if (context_.options.svg()) {
      const PictureOptions& picture = context_.options.picture;
      write_charts(context_.out, curves_.take_charts(names_, picture.scale), picture,
                   "choose tensors with -n or -e, or statistics with -r");
      return;
    }
    curves_.print(context_.out, context_.options.output, context_.several_trials, names_, context_.messages);
  }

 private:
  ResultContext context_;
  std::vector<std::string> names_;
  Curves curves_;
  LiveCurves live_{curves_, context_.out, context_.messages};
};

}  // namespace

std::unique_ptr<ResultView> make_spark_view(const ResultContext& context) {
  return std::make_unique<SparkView>(context);
}

}  // namespace smd::tool::reduce
