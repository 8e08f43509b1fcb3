// SPDX-License-Identifier: Apache-2.0
#include "rows/statistic_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace smd::tool {

namespace {

struct StatisticWords {
  std::string_view name;
  std::string_view words;
};

constexpr std::array<StatisticWords, 23> statistic_words = {{{"min", "least element"},
                                                             {"max", "greatest element"},
                                                             {"median", "median of the elements"},
                                                             {"mean", "mean of the elements"},
                                                             {"std", "standard deviation"},
                                                             {"variance", "variance"},
                                                             {"sum", "sum of the elements"},
                                                             {"prod", "product of the elements"},
                                                             {"l1", "l1 norm: sum of |x|"},
                                                             {"l2", "l2 norm: root of the sum of squares"},
                                                             {"rms", "root of the mean square"},
                                                             {"count", "number of elements"},
                                                             {"finite", "number of finite elements"},
                                                             {"nan", "number of NaN"},
                                                             {"inf", "number of infinite elements"},
                                                             {"posinf", "number of inf"},
                                                             {"neginf", "number of -inf"},
                                                             {"zero", "number of zeros"},
                                                             {"negative", "number of negative elements"},
                                                             {"zero_fraction", "share of zeros, of 1"},
                                                             {"max_abs", "largest |a - b|"},
                                                             {"l2_diff", "l2 norm of a - b"},
                                                             {"rel_l2", "l2 norm of a - b / l2 norm of b"}}};

std::optional<double> percentile_of(std::string_view name) {
  if (name == "min" || name == "max" || name == "median") {
    return name == "min" ? 0 : name == "max" ? 100 : 50;
  }
  if (!name.starts_with('p')) {
    return std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size() && number >= 0 && number <= 100;
  return whole ? std::optional(number) : std::nullopt;
}

std::string words_of(std::string_view name) {
  const auto* const known = std::find_if(statistic_words.begin(), statistic_words.end(),
                                         [name](const StatisticWords& one) { return one.name == name; });
  if (known != statistic_words.end()) {
    return std::string(known->words);
  }
  if (name == "nan_fraction") {
    return "share of NaN, of 1";
  }
  if (name.starts_with("abs_")) {
    return fmt::format("{}, of absolute values", words_of(name.substr(4)));
  }
  if (const std::optional<double> percentile = percentile_of(name)) {
    return fmt::format("percentile {} of the elements", *percentile);
  }
  return std::string(name);
}

}  // namespace

ChartAxis statistic_axis(std::string_view name) {
  ChartAxis axis = {.name = words_of(name)};
  if (name == "zero_fraction" || name == "nan_fraction") {
    axis.least = 0;
    axis.greatest = 1;
  }
  return axis;
}

std::vector<std::size_t> percentile_order(std::span<const std::string> names) {
  std::vector<std::pair<double, std::size_t>> percentiles;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::optional<double> percentile = percentile_of(names[i]);
    if (!percentile) {
      return {};
    }
    percentiles.emplace_back(*percentile, i);
  }
  std::sort(percentiles.begin(), percentiles.end());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < percentiles.size(); ++i) {
    if (i != 0 && percentiles[i].first == percentiles[i - 1].first) {
      return {};
    }
    order.push_back(percentiles[i].second);
  }
  return order;
}

}  // namespace smd::tool
