// SPDX-License-Identifier: Apache-2.0
#include "select/saved_forms.hpp"

#include <algorithm>
#include <iterator>

namespace smd::tool {

bool has_value(const TensorEntry& entry) noexcept { return entry.value && (entry.value->has_record() || !entry.shape); }

const SavedReduction* saved_buckets(const TensorEntry& entry) noexcept {
  const auto found = std::ranges::find(entry.reductions, buckets_name, &SavedReduction::name);
  return entry.value || found == entry.reductions.end() ? nullptr : &*found;
}

void SavedForms::add(const TensorEntry& entry) {
  value = value || entry.value;
  shape = shape || entry.shape;
  std::ranges::transform(entry.reductions, std::inserter(reductions, reductions.end()), &SavedReduction::name);
  if (!workers.contains(entry.worker)) {
    workers.emplace(entry.worker);
  }
}

SavedForms forms_of(const Trial& trial, const std::string& tensor, const std::optional<GlobalStep>& step) {
  SavedForms forms;
  EntryQuery query{.tensors = {tensor}, .include_incomplete = true};
  if (step) {
    query.steps = {{*step}};
  }
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    forms.add(entry);
    return true;
  });
  return forms;
}

}  // namespace smd::tool
