// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"
#include "text/limits.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>
#include <vector>

/// `model.safetensors.index.json`, which names the file of each tensor.
namespace smd::detail::layout {

struct ShardIndex {
  struct Tensor {
    std::string_view name;
    std::uint32_t file = 0;  ///< Index in `files`.
  };
  std::vector<std::string> files;                   ///< Each once; plain names of files in the index's own folder.
  std::vector<Tensor> tensors;                      ///< By name; the names are valid as long as index and text.
  ProblemList problems{limits::problems_per_file};  ///< Refused entries; offsets are those in the index.
  std::forward_list<std::string> unescaped;         ///< Names that have escapes in the text.
  Buffer memory;                                    ///< Whoever read the text may keep it here.
};

/// Returns a problem if the text is not an index. Precondition: `Buffer::padding` more bytes may be read after it.
[[nodiscard]] Outcome<ShardIndex> parse_shard_index(std::string_view json);

}  // namespace smd::detail::layout
