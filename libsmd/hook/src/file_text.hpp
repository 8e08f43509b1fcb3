// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// The texts of index files and collections files (docs/format.md), character by character as Python's `json.dumps`
/// writes them.
namespace smd::detail::hook {

struct RecordEntry {
  std::string tensor;
  std::uint64_t start = 0;
  std::uint64_t length = 0;
};

struct ShapeEntry {
  std::string tensor;
  std::string original;
  Shape shape;
};

/// The content of an index file.
struct IndexContent {
  Mode mode = Mode::global;
  std::int64_t mode_step = 0;
  std::string event_file = {};  ///< Empty if there are no records.
  std::vector<RecordEntry> records = {};
  std::vector<ShapeEntry> shapes = {};
};

[[nodiscard]] std::string index_text(const IndexContent& content);
[[nodiscard]] std::string collections_text(const std::map<std::string, Collection>& collections,
                                           std::size_t num_workers);

/// Returns `l1` for `l1_norm`, and so on; returns any other name unchanged.
[[nodiscard]] std::string plain_reduction_name(std::string_view name);

/// Returns whether a plain name is one that a job may save.
[[nodiscard]] bool can_be_saved(std::string_view plain) noexcept;

/// Returns names as the reference writes and reads them in a collections file, in its order: reductions, norms, then
/// those of absolute values. Omits medians: the reference refuses a trial whose configuration has one.
[[nodiscard]] std::string reference_reduction_list(const std::vector<std::string>& names);

}  // namespace smd::detail::hook
