// SPDX-License-Identifier: Apache-2.0
#include "paired_entries.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace smd::tool::diff {

namespace {

bool saved(const TensorEntry& entry) { return entry.value || !entry.reductions.empty() || entry.shape; }

std::vector<TensorEntry> entries_of(const ComparedTrial& side, const std::optional<SelectedStep>& step,
                                    const PairedStep& pair) {
  std::vector<TensorEntry> entries;
  if (!step || side.selection.empty()) {
    return entries;
  }
  const EntryQuery query =
      entry_query(side.options, pair.tensors ? *pair.tensors : side.selection.tensors, std::span(&*step, 1));
  side.trial.for_each_entry(query, [&](const TensorEntry& entry) {
    if (saved(entry)) {
      entries.push_back(entry);
    }
    return true;
  });
  return entries;
}

}  // namespace

std::vector<PairedEntry> pair_entries(const ComparedTrial& a, const ComparedTrial& b,
                                      std::span<const PairedStep> steps) {
  std::vector<PairedEntry> all;
  for (const PairedStep& pair : steps) {
    std::vector<TensorEntry> of_a = entries_of(a, pair.a, pair);
    std::vector<TensorEntry> of_b = entries_of(b, pair.b, pair);
    const bool by_worker = a.options.all_workers;
    const auto before = [by_worker](const TensorEntry& x, const TensorEntry& y) {
      return x.tensor != y.tensor ? x.tensor < y.tensor : by_worker && x.worker < y.worker;
    };
    auto next_a = of_a.begin();
    auto next_b = of_b.begin();
    while (next_a != of_a.end() || next_b != of_b.end()) {
      PairedEntry& entry = all.emplace_back();
      entry.step = pair.a ? std::optional(pair.a->step) : std::nullopt;
      entry.step_b = pair.b ? std::optional(pair.b->step) : std::nullopt;
      const bool takes_a = next_b == of_b.end() || (next_a != of_a.end() && !before(*next_b, *next_a));
      const bool takes_b = next_a == of_a.end() || (next_b != of_b.end() && !before(*next_a, *next_b));
      if (takes_a) {
        entry.a = std::move(*next_a++);
      }
      if (takes_b) {
        entry.b = std::move(*next_b++);
      }
    }
  }
  if (steps.size() > 1) {
    std::stable_sort(all.begin(), all.end(), [](const PairedEntry& x, const PairedEntry& y) {
      return std::make_tuple(x.tensor(), x.worker()) < std::make_tuple(y.tensor(), y.worker());
    });
  }
  return all;
}

}  // namespace smd::tool::diff
