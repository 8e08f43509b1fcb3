// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/collection.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace smd::detail::layout {

/// One collections file (docs/format.md).
struct CollectionsFile {
  std::map<std::string, Collection> collections;
  std::optional<std::int64_t> num_workers;  ///< As written; nothing if the file does not say.
};

/// Parses a collections file. What is odd but harmless, or spoils one collection only, goes to `notes`.
Outcome<CollectionsFile> parse_collections_file(std::span<const std::byte> text, ProblemList& notes);

}  // namespace smd::detail::layout
