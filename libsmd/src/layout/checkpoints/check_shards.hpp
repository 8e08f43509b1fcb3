// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/checkpoints/checkpoint_files.hpp"
#include "layout/checkpoints/checkpoint_plan.hpp"
#include "layout/checkpoints/read_once.hpp"
#include "layout/checkpoints/shard_index.hpp"
#include "types/problem_list.hpp"

namespace smd::detail::layout {

/// Returns whether any file that a set's index names exists.
[[nodiscard]] bool has_whole_index(const TensorSet& set, const ReadOnce<Outcome<ShardIndex>>& indexes,
                                   const ReadOnce<TensorFileHeader>& headers);

/// Reports problems of shards and their index: an index that cannot be read, is stale or has refused entries, missing
/// shards, and tensors that are not in the file that the index names.
void check_shards(const TensorSet& set, const ReadOnce<Outcome<ShardIndex>>& indexes,
                  const ReadOnce<TensorFileHeader>& headers, ProblemList& problems);

}  // namespace smd::detail::layout
