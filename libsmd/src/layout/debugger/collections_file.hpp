// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/collection.hpp>
#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace smd::detail::layout {

/// One collections file (docs/format.md).
struct CollectionsFile {
  std::map<std::string, Collection> collections;
  std::optional<std::int64_t> num_workers;  ///< As written; nullopt if the file has none.
};

/// Parses a collections file. Problems that are harmless, or affect one collection only, go to `notes`.
/// Precondition: `Buffer::padding` more bytes may be read after the text.
Outcome<CollectionsFile> parse_collections_file(std::span<const std::byte> text, ProblemList& notes);

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

/// What a trial takes from one collections file.
struct KnownCollections {
  CollectionMap collections;  ///< Each name and pattern once.
  std::optional<std::int64_t> num_workers;
  std::vector<Problem> notes;  ///< Harmless problems, without the file's name.
};

/// Parses a collections file. A short text is parsed only if it differs from the last one: the workers of a job mostly
/// write the same, and so do the jobs of a sweep. Thread-safe.
Outcome<std::shared_ptr<const KnownCollections>> known_collections(std::span<const std::byte> text);

}  // namespace smd::detail::layout
