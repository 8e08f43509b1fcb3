// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/limits.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// `model.safetensors.index.json`, which says in which of several files each tensor lies.
namespace smd::detail::layout {

struct ShardIndex {
  std::vector<std::string> files;                              ///< Each once; plain names of the index's own folder.
  std::vector<std::pair<std::string, std::uint32_t>> tensors;  ///< With the file, by name.
  ProblemList problems{limits::problems_per_file};             ///< Entries that are refused; offsets in the index.
};

/// A problem if the text is no index at all.
[[nodiscard]] Outcome<ShardIndex> parse_shard_index(std::string_view json);

}  // namespace smd::detail::layout
