// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <unordered_set>

namespace smd::detail::layout {

/// The collections of several workers as one: the union of names and patterns; configurations as first seen. Costs
/// n log n by the names and patterns added.
class CollectionsUnion {
 public:
  void add(std::map<std::string, Collection>&& more);
  /// The union, by name; leaves this empty.
  [[nodiscard]] std::map<std::string, Collection> take();

 private:
  struct Merged {
    Collection collection;
    std::unordered_set<std::string> patterns;
    std::size_t sorted = 0;  ///< So many of the names, from the first, are sorted and each there once.

    void sort_names();
  };

  std::map<std::string, Merged> collections_;
};

}  // namespace smd::detail::layout
