// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

/// `part 2 of 4`, `parts 2, 3 of 4`: the first five.
[[nodiscard]] std::string parts_text(const std::vector<std::uint64_t>& parts, std::uint64_t count);

}  // namespace smd::tool
