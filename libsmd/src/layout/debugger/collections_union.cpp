// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/collections_union.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smd::detail::layout {

void CollectionsUnion::add(std::map<std::string, Collection>&& more) {
  for (auto& [name, collection] : more) {
    const auto [it, added] = collections_.try_emplace(name);
    Merged& known = it->second;
    for (std::string& pattern : collection.include_regex) {
      // Patterns keep the order of their first appearance.
      if (known.patterns.insert(pattern).second) {
        known.collection.include_regex.push_back(std::move(pattern));
      }
    }
    if (added) {
      std::vector<std::string> patterns = std::move(known.collection.include_regex);
      known.collection = std::move(collection);
      known.collection.include_regex = std::move(patterns);
      known.sorted = known.collection.tensor_names.size();
      continue;
    }
    std::vector<std::string>& names = known.collection.tensor_names;
    std::move(collection.tensor_names.begin(), collection.tensor_names.end(), std::back_inserter(names));
    // Most files repeat the names of the one before. Sorting at each doubling bounds memory and time by the size of the
    // union.
    if (names.size() > 2 * known.sorted + 1024) {
      known.sort_names();
    }
  }
}

std::map<std::string, Collection> CollectionsUnion::take() {
  std::map<std::string, Collection> result;
  for (auto& [name, merged] : collections_) {
    merged.sort_names();
    result.emplace_hint(result.end(), name, std::move(merged.collection));
  }
  collections_.clear();
  return result;
}

void CollectionsUnion::Merged::sort_names() {
  std::vector<std::string>& names = collection.tensor_names;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  sorted = names.size();
}

}  // namespace smd::detail::layout
