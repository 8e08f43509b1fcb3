// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/checkpoints/checkpoint_files.hpp"
#include "layout/checkpoints/checkpoint_plan.hpp"
#include "layout/checkpoints/read_once.hpp"
#include "layout/checkpoints/shard_index.hpp"
#include "types/problem_list.hpp"

namespace smd::detail::layout {

/// Whether any file is there that a set's index names.
[[nodiscard]] bool has_whole_index(const TensorSet& set, const ReadOnce<Outcome<ShardIndex>>& indexes,
                                   const ReadOnce<TensorFileHeader>& headers);

/// Says what is wrong with shards and their index: an index that cannot be read or refuses entries, a stale one, shards
/// that are not there, tensors that are not where the index says.
void check_shards(const TensorSet& set, const ReadOnce<Outcome<ShardIndex>>& indexes,
                  const ReadOnce<TensorFileHeader>& headers, ProblemList& problems);

}  // namespace smd::detail::layout
