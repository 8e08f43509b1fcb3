// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace smd::tool {

/// The most parts that work can be cut into.
inline constexpr std::int64_t most_shards = 1'000'000;

/// One of `count` parts of the work.
struct Shard {
  std::uint64_t index = 1;  ///< From 1.
  std::uint64_t count = 1;

  /// Parses `I/N`, `auto` or `auto/N`; for `auto`, the scheduler's environment gives the place. The innermost place
  /// counts: the task of a Slurm step that has several, the member of a Slurm array or of an AWS Batch array, the job
  /// of GNU parallel, the only task of a Slurm job. Nothing is guessed: an array that does not begin with 0 or 1, or
  /// does not have N members, is refused, because members that are run again by themselves look like that.
  /// @throws InvalidValue.
  static Shard parse(const std::string& text);

  /// The half-open range of this part of `things` things: parts are contiguous, and their sizes differ by at most one.
  [[nodiscard]] std::pair<std::size_t, std::size_t> range(std::size_t things) const noexcept;

  bool operator==(const Shard&) const = default;
};

/// For manual pages: what `auto` means.
inline constexpr std::string_view scheduler_prose =
    "--shard auto takes the innermost place there is: SLURM_PROCID of SLURM_STEP_NUM_TASKS, if a Slurm step has "
    "several tasks; else the place among the members of a Slurm array, from SLURM_ARRAY_TASK_ID, "
    "SLURM_ARRAY_TASK_COUNT, SLURM_ARRAY_TASK_MIN and SLURM_ARRAY_TASK_STEP; else AWS_BATCH_JOB_ARRAY_INDEX. AWS Batch "
    "tells a job the array's size in AWS_BATCH_JOB_ARRAY_SIZE, or say auto/N. auto/N takes PARALLEL_SEQ of GNU "
    "parallel, which does not tell how many jobs there are.\n\n"
    "Arrays must begin with 0 or 1 and have as many members as there are parts. For members that are submitted again "
    "by themselves say I/N, such as --shard \"$SLURM_ARRAY_TASK_ID/16\"; members that Slurm requeues keep their place.";

}  // namespace smd::tool
