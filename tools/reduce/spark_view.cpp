// SPDX-License-Identifier: Apache-2.0
// --spark: a line for each tensor and reduction, its curve over the steps.
#include "common/curve.hpp"
#include "common/terminal.hpp"
#include "common/text.hpp"
#include "result_view.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace smd::tool::reduce {

namespace {

class SparkView : public ResultView {
 public:
  explicit SparkView(const ResultContext& context) : context_(context) {}

  void set_trial(std::string_view name) override { trials_.emplace_back(name); }

  void row(const ResultRow& row) override {
    workers_.emplace(row.worker);
    for (std::size_t i = 0; i < row.figures.size(); ++i) {
      if (row.figures[i].missing()) {
        continue;
      }
      Series& series = series_[{trials_.size(), std::string(row.tensor), std::string(row.worker), i}];
      series.first = series.numbers.empty() ? row.step.value : series.first;
      series.last = row.step.value;
      series.numbers.push_back(row.figures[i].number());
    }
  }

  void finish() override {
    std::size_t width = 0;
    for (const auto& [key, series] : series_) {
      width = std::max(width, display_width(name_of(key)));
    }
    const OutputOptions& output = context_.options.output;
    for (const auto& [key, series] : series_) {
      context_.out.write(curve_line(name_of(key), width, series.numbers, series.first, series.last,
                                    output.precision != 0 ? output.precision : 4, terminal_width(STDOUT_FILENO),
                                    output.ascii));
    }
  }

 private:
  using Key = std::tuple<std::size_t, std::string, std::string, std::size_t>;  // trial, tensor, worker, reduction
  struct Series {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::vector<double> numbers;
  };

  [[nodiscard]] std::string name_of(const Key& key) const {
    const auto& [trial, tensor, worker, reduction] = key;
    std::string name = context_.several_trials ? trials_[trial - 1] + "  " : std::string();
    name += tensor;
    if (workers_.size() > 1) {
      name += "  " + worker;
    }
    if (context_.wanted.size() > 1) {
      name += "  " + context_.wanted[reduction].name;
    }
    return printable(name, context_.options.output.ascii);
  }

  ResultContext context_;
  std::vector<std::string> trials_;
  std::set<std::string, std::less<>> workers_;
  std::map<Key, Series> series_;
};

}  // namespace

std::unique_ptr<ResultView> make_spark_view(const ResultContext& context) {
  return std::make_unique<SparkView>(context);
}

}  // namespace smd::tool::reduce
