// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace smd::tool::reduce {

/// One of so many parts of the work.
struct Shard {
  std::uint64_t index = 1;  ///< From 1.
  std::uint64_t count = 1;

  /// `I/N`, `auto` or `auto/N`: the place that a scheduler's environment tells, as the help says.
  /// @throws InvalidValue.
  static Shard parse(const std::string& text);

  /// The half-open range of this part of so many things: parts in a row, their sizes differing by one at most.
  [[nodiscard]] std::pair<std::size_t, std::size_t> range(std::size_t things) const noexcept;
};

/// The steps of which a shard took its part. Shards go together if these are the same: a job may have gone on saving.
struct ShardedSteps {
  std::uint64_t count = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool operator==(const ShardedSteps&) const = default;
};

}  // namespace smd::tool::reduce
