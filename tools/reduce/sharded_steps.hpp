// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace smd::tool::reduce {

/// The steps that shards divide. Shards belong together if these are equal: the job may have saved more in between.
struct ShardedSteps {
  std::uint64_t count = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool operator==(const ShardedSteps&) const = default;
};

}  // namespace smd::tool::reduce
