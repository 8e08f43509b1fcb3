// SPDX-License-Identifier: Apache-2.0
#include "rows/statistic_axis.hpp"

#include <smd/reduction.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace smd::tool {

namespace {

struct StatisticWords {
  std::string_view name;
  std::string_view words;
};

// Of what smd-diff compares.
constexpr std::array<StatisticWords, 3> difference_words = {
    {{"max_abs", "largest |a - b|"}, {"l2_diff", "l2 norm of a - b"}, {"rel_l2", "l2 norm of a - b / l2 norm of a"}}};

std::optional<double> percentile_of(std::string_view name) {
  const std::optional<Reduction> reduction = parse_reduction(name);
  if (!reduction || reduction->abs) {
    return std::nullopt;
  }
  return reduction->kind == ReductionKind::min          ? std::optional(0.0)
         : reduction->kind == ReductionKind::max        ? std::optional(100.0)
         : reduction->kind == ReductionKind::median     ? std::optional(50.0)
         : reduction->kind == ReductionKind::percentile ? std::optional(reduction->percent)
                                                        : std::nullopt;
}

std::string words_of(std::string_view name) {
  const auto* const difference = std::find_if(difference_words.begin(), difference_words.end(),
                                              [name](const StatisticWords& one) { return one.name == name; });
  if (difference != difference_words.end()) {
    return std::string(difference->words);
  }
  const std::optional<Reduction> reduction = parse_reduction(name);
  if (!reduction) {
    return std::string(name);
  }
  std::string words(facts_of(reduction->kind).text);
  if (reduction->kind == ReductionKind::percentile) {
    words = fmt::format("percentile {} of the elements", reduction->percent);
  }
  return reduction->abs ? words + ", of absolute values" : words;
}

}  // namespace

ChartAxis statistic_axis(std::string_view name) {
  ChartAxis axis = {.name = words_of(name)};
  const std::optional<Reduction> reduction = parse_reduction(name);
  if (reduction && facts_of(reduction->kind).share) {
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
