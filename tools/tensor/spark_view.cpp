// SPDX-License-Identifier: Apache-2.0
// --spark: one line per scalar tensor, its curve over the steps.
#include "common/text.hpp"
#include "elements.hpp"
#include "value_view.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace smd::tool::tensor {

namespace {

constexpr std::array<std::string_view, 8> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> letters = {"_", ".", "-", ":", "=", "+", "*", "#"};
constexpr std::size_t most_columns = 60;
constexpr std::size_t least_columns = 10;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

Range range_of(const std::vector<double>& numbers) {
  Range range;
  for (const double number : numbers) {
    if (std::isfinite(number)) {
      range.low = std::min(range.low, number);
      range.high = std::max(range.high, number);
    }
  }
  return range;
}

// One number per column: the mean of those that fall in it; not finite if one of them is not.
std::vector<double> gathered(const std::vector<double>& numbers, std::size_t columns) {
  if (numbers.size() <= columns) {
    return numbers;
  }
  std::vector<double> result;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t begin = column * numbers.size() / columns;
    const std::size_t end = (column + 1) * numbers.size() / columns;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += numbers[i] / static_cast<double>(end - begin);
    }
    result.push_back(sum);
  }
  return result;
}

std::string curve(const std::vector<double>& numbers, std::size_t columns, bool ascii) {
  const std::array<std::string_view, 8>& steps = ascii ? letters : blocks;
  const std::vector<double> heights = gathered(numbers, columns);
  const Range range = range_of(heights);
  std::string text;
  for (const double height : heights) {
    if (!std::isfinite(height)) {
      text += ascii ? "!" : "×";
    } else if (range.low == range.high) {
      text += steps[3];
    } else {
      const double level = (height / 2 - range.low / 2) / (range.high / 2 - range.low / 2);
      text += steps[std::min<std::size_t>(7, static_cast<std::size_t>(level * 8))];
    }
  }
  return text;
}

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
    const int precision = context_.options.table_precision(4);
    const auto text = [&](double number) { return number_text(number, precision); };
    const Range range = range_of(series.numbers);
    std::string facts = "  last " + text(series.numbers.back());
    if (range.low <= range.high) {
      facts += "  min " + text(range.low) + "  max " + text(range.high);
    }
    facts += "  steps " + std::to_string(series.first) + " to " + std::to_string(series.last);
    const std::size_t room = terminal_width(STDOUT_FILENO);
    const std::size_t used = width + 2 + facts.size();
    const std::size_t columns = std::clamp(room > used ? room - used : 0, least_columns, most_columns);
    context_.out.write(name + std::string(width - display_width(name) + 2, ' ') +
                       curve(series.numbers, columns, context_.options.output.ascii) + facts + "\n");
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
