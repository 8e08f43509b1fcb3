// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/outcome.hpp"

#include <smd/collection.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smd::detail::layout {

/// One collections file (FORMAT.md, section 3).
struct CollectionsFile {
  std::map<std::string, Collection> collections;
  std::optional<std::int64_t> num_workers;  ///< As written; nothing if the file does not say.
};

/// Parses a collections file. What is odd but harmless, or spoils one collection only, goes to `notes`.
Outcome<CollectionsFile> parse_collections_file(std::span<const std::byte> text, std::vector<Problem>& notes);

/// Adds what `more` knows of its collections: the union of names and patterns; configurations as first seen.
void merge_collections(std::map<std::string, Collection>& into, const std::map<std::string, Collection>& more);

}  // namespace smd::detail::layout
