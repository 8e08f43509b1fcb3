// SPDX-License-Identifier: Apache-2.0
#include "draw/curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace smd::tool {

namespace {

constexpr std::array<std::string_view, 8> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> letters = {"_", ".", "-", ":", "=", "+", "*", "#"};

struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

ValueRange range_of(const std::vector<double>& numbers) {
  ValueRange range;
  for (const double number : numbers) {
    if (std::isfinite(number)) {
      range.low = std::min(range.low, number);
      range.high = std::max(range.high, number);
    }
  }
  return range;
}

// One number per column: the mean of those that fall in it; not finite if one of them is not.
std::vector<double> resampled(std::span<const double> numbers, std::size_t columns) {
  std::vector<double> result;
  for (std::size_t column = 0; !numbers.empty() && column < columns; ++column) {
    const std::size_t begin = column * numbers.size() / columns;
    const std::size_t end = std::max((column + 1) * numbers.size() / columns, begin + 1);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += numbers[i] / static_cast<double>(end - begin);
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace

std::string curve_text(std::span<const double> numbers, std::size_t columns, bool ascii) {
  const std::array<std::string_view, 8>& steps = ascii ? letters : blocks;
  const std::vector<double> heights = resampled(numbers, columns);
  const ValueRange range = range_of(heights);
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

}  // namespace smd::tool
