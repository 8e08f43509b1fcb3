// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace smd::tool::reduce {

/// The steps of which a shard took its part. Shards go together if these are the same: a job may have gone on saving.
struct ShardedSteps {
  std::uint64_t count = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool operator==(const ShardedSteps&) const = default;
};

}  // namespace smd::tool::reduce
