// SPDX-License-Identifier: Apache-2.0
#include "curve.hpp"

#include "number_format.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace smd::tool {

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

}  // namespace

std::string curve_line(const std::string& name, std::size_t name_width, const std::vector<double>& numbers,
                       std::int64_t first_step, std::int64_t last_step, int precision, std::size_t width, bool ascii) {
  const auto text = [&](double number) { return number_text(number, precision); };
  const Range range = range_of(numbers);
  std::string facts = "  last " + text(numbers.back());
  if (range.low <= range.high) {
    facts += "  min " + text(range.low) + "  max " + text(range.high);
  }
  facts += "  steps " + std::to_string(first_step) + " to " + std::to_string(last_step);
  const std::size_t used = name_width + 2 + facts.size();
  const std::size_t columns = std::clamp(width > used ? width - used : 0, least_columns, most_columns);
  return name + std::string(name_width - display_width(name) + 2, ' ') + curve(numbers, columns, ascii) + facts + "\n";
}

}  // namespace smd::tool
