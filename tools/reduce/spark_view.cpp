// SPDX-License-Identifier: Apache-2.0
// --spark: a line for each tensor, worker, mode and reduction, with its curve over the steps.
#include "result_view.hpp"
#include "rows/curves.hpp"

namespace smd::tool::reduce {

namespace {

class SparkView : public ResultView {
 public:
  explicit SparkView(const ResultContext& context) : context_(context) {}

  void set_trial(std::string_view name) override { curves_.set_trial(name); }

  void row(const ResultRow& row) override {
    for (std::size_t i = 0; i < row.statistics.size(); ++i) {
      if (!row.statistics[i].missing()) {
        curves_.add({row.tensor, row.worker, row.mode, i, row.step.value, row.written}, row.statistics[i].number());
      }
    }
  }

  void finish() override {
    std::vector<std::string> names;
    for (const Wanted& wanted : context_.wanted) {
      names.push_back(wanted.name);
    }
    curves_.print(context_.out, context_.options.output, context_.several_trials, names, context_.messages);
  }

 private:
  ResultContext context_;
  Curves curves_;
};

}  // namespace

std::unique_ptr<ResultView> make_spark_view(const ResultContext& context) {
  return std::make_unique<SparkView>(context);
}

}  // namespace smd::tool::reduce
