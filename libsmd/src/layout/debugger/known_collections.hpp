// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "types/outcome.hpp"

#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace smd::detail::layout {

/// The content of one collections file.
struct KnownCollections {
  CollectionMap collections;  ///< Each name and pattern once.
  std::optional<std::int64_t> num_workers;
  std::vector<Problem> notes;  ///< Harmless problems, without the file's name.
};

/// Parses a collections file. A short text is parsed only if it differs from the last one: the workers of a job mostly
/// write the same, and so do the jobs of a sweep. Thread-safe.
Outcome<std::shared_ptr<const KnownCollections>> known_collections(std::span<const std::byte> text);

}  // namespace smd::detail::layout
