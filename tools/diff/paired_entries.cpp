// SPDX-License-Identifier: Apache-2.0
#include "paired_entries.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace smd::tool::diff {

namespace {

bool saved(const TensorEntry& entry) { return entry.value || !entry.reductions.empty() || entry.shape; }

std::vector<TensorEntry> entries_of(const ComparedTrial& side, const std::optional<SelectedStep>& step,
                                    const PairedStep& pair, const NameRange& names) {
  std::vector<TensorEntry> entries;
  if (!step || side.selection.empty()) {
    return entries;
  }
  const std::vector<std::string>& all = pair.tensors ? *pair.tensors : side.selection.tensors;
  const auto begin = names.first ? std::lower_bound(all.begin(), all.end(), *names.first) : all.begin();
  const auto end = names.end ? std::lower_bound(all.begin(), all.end(), *names.end) : all.end();
  if (begin >= end) {
    return entries;
  }
  std::vector<std::string> chosen(begin, end);
  const EntryQuery query =
      entry_query(side.options, pair.tensors ? side.names.own_names(chosen) : std::move(chosen), std::span(&*step, 1));
  side.trial.for_each_entry(query, [&](const TensorEntry& entry) {
    if (saved(entry)) {
      entries.push_back(entry);
    }
    return true;
  });
  if (side.names.changes()) {
    std::stable_sort(entries.begin(), entries.end(), [&](const TensorEntry& x, const TensorEntry& y) {
      return side.names.shown(x.tensor) < side.names.shown(y.tensor);
    });
  }
  return entries;
}

}  // namespace

std::vector<NameRange> name_ranges(const ComparedTrial& a, const ComparedTrial& b) {
  constexpr std::size_t most_names = 8192;
  const std::vector<std::string>& more = std::max(a.selection.tensors, b.selection.tensors,
                                                  [](const auto& x, const auto& y) { return x.size() < y.size(); });
  std::vector<NameRange> ranges(1);
  const bool same_names = !a.names.changes() && !b.names.changes();  // else a range of one is none of the other
  for (std::size_t i = most_names; same_names && i < more.size(); i += most_names) {
    ranges.back().end = more[i];
    ranges.push_back({more[i], std::nullopt});
  }
  return ranges;
}

std::vector<PairedEntry> pair_entries(const ComparedTrial& a, const ComparedTrial& b, std::span<const PairedStep> steps,
                                      const NameRange& names) {
  std::vector<PairedEntry> all;
  for (const PairedStep& pair : steps) {
    std::vector<TensorEntry> of_a = entries_of(a, pair.a, pair, names);
    std::vector<TensorEntry> of_b = entries_of(b, pair.b, pair, names);
    const bool by_worker = a.options.all_workers;
    const auto before = [by_worker](std::string_view x_name, const TensorEntry& x, std::string_view y_name,
                                    const TensorEntry& y) {
      return x_name != y_name ? x_name < y_name : by_worker && x.worker < y.worker;
    };
    auto next_a = of_a.begin();
    auto next_b = of_b.begin();
    while (next_a != of_a.end() || next_b != of_b.end()) {
      PairedEntry& entry = all.emplace_back();
      entry.step = pair.a ? std::optional(pair.a->step) : std::nullopt;
      entry.step_b = pair.b ? std::optional(pair.b->step) : std::nullopt;
      const std::string_view name_a = next_a == of_a.end() ? std::string_view() : a.names.shown(next_a->tensor);
      const std::string_view name_b = next_b == of_b.end() ? std::string_view() : b.names.shown(next_b->tensor);
      const bool takes_a = next_b == of_b.end() || (next_a != of_a.end() && !before(name_b, *next_b, name_a, *next_a));
      const bool takes_b = next_a == of_a.end() || (next_b != of_b.end() && !before(name_a, *next_a, name_b, *next_b));
      entry.name = takes_a ? name_a : name_b;
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
