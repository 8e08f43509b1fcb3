// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/limits.hpp>

#include <cstdint>
#include <forward_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// `model.safetensors.index.json`, which says in which of several files each tensor lies.
namespace smd::detail::layout {

struct ShardIndex {
  struct Tensor {
    std::string_view name;
    std::uint32_t file = 0;  ///< Which of `files`.
  };
  std::vector<std::string> files;                   ///< Each once; plain names of the index's own folder.
  std::vector<Tensor> tensors;                      ///< By name; valid as long as the index.
  ProblemList problems{limits::problems_per_file};  ///< Entries that are refused; offsets in the index.
  std::unique_ptr<const std::string> text;          ///< What was parsed.
  std::forward_list<std::string> unescaped;         ///< Names that stand in the text with escapes.
};

/// A problem if the text is no index at all.
[[nodiscard]] Outcome<ShardIndex> parse_shard_index(std::string json);

}  // namespace smd::detail::layout
