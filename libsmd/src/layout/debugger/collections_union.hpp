// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <unordered_set>

namespace smd::detail::layout {

/// Merges the collections of several workers: the union of names and patterns, and the configurations seen first. Takes
/// O(n log n) time for n added names and patterns.
class CollectionsUnion {
 public:
  void add(std::map<std::string, Collection>&& more);
  /// Returns the union, by name, and leaves this empty.
  [[nodiscard]] std::map<std::string, Collection> take();

 private:
  struct Merged {
    Collection collection;
    std::unordered_set<std::string> patterns;
    std::size_t sorted = 0;  ///< The number of names, from the first, that are sorted and distinct.

    void sort_names();
  };

  std::map<std::string, Merged> collections_;
};

}  // namespace smd::detail::layout
