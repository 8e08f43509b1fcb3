// SPDX-License-Identifier: Apache-2.0
#include "smoothing.hpp"

#include "rows/exponential_mean.hpp"

#include <smd/column.hpp>

#include <algorithm>

namespace smd::tool::tensor {

std::optional<double> Smoothing::at(std::string_view tensor, std::string_view worker, GlobalStep step) {
  auto found = known_.find(tensor);
  if (found == known_.end()) {
    found = known_.emplace(std::string(tensor), ByWorker()).first;
    const ScalarColumn column = ScalarColumn::read(trial_, tensor, {.mode = mode_});
    for (const ColumnPart& part : column.parts()) {
      Series& series = found->second[std::string(part.worker())];
      for (std::size_t i = 0; i < part.size(); ++i) {
        series.emplace_back(part.step(i).value, part.value(i));
      }
    }
    for (auto& [name, series] : found->second) {
      std::stable_sort(series.begin(), series.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      ExponentialMean mean(weight_);
      for (auto& [unused, number] : series) {
        number = mean.next(number);
      }
    }
  }
  const auto of_worker = found->second.find(worker);
  if (of_worker == found->second.end()) {
    return std::nullopt;
  }
  const Series& series = of_worker->second;
  const auto place = std::lower_bound(series.begin(), series.end(), step.value,
                                      [](const auto& one, std::int64_t wanted) { return one.first < wanted; });
  return place != series.end() && place->first == step.value ? std::optional(place->second) : std::nullopt;
}

}  // namespace smd::tool::tensor
