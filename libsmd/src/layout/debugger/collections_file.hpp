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
  std::optional<std::int64_t> num_workers;  ///< As written; nullopt if the file has none.
};

/// Parses a collections file. Problems that are harmless, or affect one collection only, go to `notes`.
/// Precondition: `Buffer::padding` more bytes may be read after the text.
Outcome<CollectionsFile> parse_collections_file(std::span<const std::byte> text, ProblemList& notes);

}  // namespace smd::detail::layout
