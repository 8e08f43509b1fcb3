// SPDX-License-Identifier: Apache-2.0
// --spark: a line for each tensor, worker, mode and reduction, with its curve over the steps. -f svg:
// a chart of them.
#include "result_view.hpp"
#include "rows/curves.hpp"

namespace smd::tool::reduce {

namespace {

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

std::unique_ptr<ResultView> make_spark_view(const ResultContext& context) {
  return std::make_unique<SparkView>(context);
}

}  // namespace smd::tool::reduce
