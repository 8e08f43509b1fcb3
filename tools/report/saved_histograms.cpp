// SPDX-License-Identifier: Apache-2.0
#include "saved_histograms.hpp"

#include "rows/buckets.hpp"
#include "select/saved_forms.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_maps = 24;
constexpr std::size_t most_columns_of_map = 64;

struct SavedAt {
  GlobalStep step;
  Place place;
};

bool within(GlobalStep step, const EvaluationOptions& steps) {
  return (!steps.start || step >= *steps.start) && (!steps.end || step < *steps.end);
}

std::vector<SavedAt> places_of(const Trial& trial, const std::string& tensor, const EvaluationOptions& steps) {
  EntryQuery query = {.tensors = {tensor}, .steps = steps.steps, .mode = steps.mode, .workers = steps.workers};
  query.first_worker_only = true;
  std::vector<SavedAt> places;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    if (const SavedReduction* const buckets = saved_buckets(entry); buckets != nullptr && within(entry.step, steps)) {
      places.push_back({entry.step, buckets->place});
    }
    return true;
  });
  if (places.size() <= most_columns_of_map) {
    return places;
  }
  std::vector<SavedAt> some;
  for (std::size_t i = 0; i < most_columns_of_map; ++i) {
    some.push_back(places[i * (places.size() - 1) / (most_columns_of_map - 1)]);
  }
  return some;
}

HeatMap read_map(const Trial& trial, const std::string& tensor, const std::vector<SavedAt>& places) {
  const std::string name = reduction_tensor_name(buckets_name, tensor);
  std::vector<WantedValue> wanted;
  wanted.reserve(places.size());
  for (const SavedAt& saved : places) {
    wanted.push_back({saved.place, name});
  }
  HeatMap map;
  trial.read(wanted, [&](std::size_t i, ReadResult&& result) {
    if (!result.value) {
      return true;
    }
    std::optional<BucketCounts> counts = counts_of_buckets(result.value->view());
    if (counts && !counts->counts.empty()) {
      map.columns.push_back(
          {static_cast<double>(places[i].step.value), std::move(counts->edges), std::move(counts->counts)});
    }
    return true;
  });
  return map;
}

}  // namespace

std::map<std::string, HeatMap> saved_histograms(const Trial& trial, const Histories& histories,
                                                const EvaluationOptions& steps) {
  std::map<std::string, HeatMap> maps;
  for (const TensorSummary& summary : trial.summaries()) {
    const bool saved = std::find(summary.saved.begin(), summary.saved.end(), buckets_name) != summary.saved.end();
    if (!saved || !histories.tensors.contains(summary.tensor) || maps.size() == most_maps) {
      continue;
    }
    HeatMap map = read_map(trial, summary.tensor, places_of(trial, summary.tensor, steps));
    if (!map.columns.empty()) {
      maps.emplace(summary.tensor, std::move(map));
    }
  }
  return maps;
}

}  // namespace smd::tool::report
