// SPDX-License-Identifier: Apache-2.0
// --spark: one line per scalar tensor, its curve over the steps.
#include "common/curve.hpp"
#include "common/elements.hpp"
#include "common/text.hpp"
#include "value_view.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

namespace smd::tool::tensor {

namespace {

class SparkView : public ValueView {
 public:
  explicit SparkView(ViewContext context) : context_(context) {}

  void show(const ValueKey& key, const TensorValue& value) override {
    if (!is_real(value.dtype()) || value.view().size() != 1) {
      others_.emplace(std::string(key.tensor), std::string(to_string(value.dtype())) + " " + to_string(value.shape()));
      return;
    }
    const bool later = series_.contains({key.tensor, key.worker});
    Series& series = series_[{key.tensor, key.worker}];
    workers_.insert(key.worker);
    series.first = later ? series.first : key.step.value;
    series.last = key.step.value;
    series.numbers.push_back(Elements(value.view()).number(0));
  }

  void finish() override {
    std::size_t names = 0;
    for (const auto& [key, series] : series_) {
      names = std::max(names, display_width(name_of(key)));
    }
    for (const auto& [key, series] : series_) {
      print(name_of(key), names, series);
    }
    report_others();
  }

 private:
  using SeriesKey = std::pair<std::string_view, std::string_view>;  // tensor, worker
  struct Series {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::vector<double> numbers;
  };

  [[nodiscard]] std::string name_of(const SeriesKey& key) const {
    std::string name = printable(key.first, context_.options.output.ascii);
    if (workers_.size() > 1) {
      name += "  " + printable(key.second, context_.options.output.ascii);
    }
    return name;
  }

  void print(const std::string& name, std::size_t width, const Series& series) {
    context_.out.write(curve_line(name, width, series.numbers, series.first, series.last,
                                  context_.options.table_precision(4), terminal_width(STDOUT_FILENO),
                                  context_.options.output.ascii));
  }

  void report_others() {
    if (others_.empty()) {
      return;
    }
    if (series_.empty()) {
      const auto& [name, what] = *others_.begin();
      throw UsageError("--spark draws scalars, and " + quoted(name) + " is " + what +
                       ": pick an element with --slice, or see smd-reduce --spark");
    }
    std::vector<std::string> names;
    for (const auto& [name, what] : others_) {
      names.push_back(name);
    }
    context_.messages.note("not drawn, because not scalars: " + quoted_list(names, 3));
  }

  ViewContext context_;
  std::map<SeriesKey, Series> series_;
  std::set<std::string_view> workers_;
  std::map<std::string, std::string> others_;
};

}  // namespace

std::unique_ptr<ValueView> make_spark_view(ViewContext context) { return std::make_unique<SparkView>(context); }

}  // namespace smd::tool::tensor
