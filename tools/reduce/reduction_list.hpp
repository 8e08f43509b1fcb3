// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <smd/reduction.hpp>
#include <string>
#include <vector>

namespace smd::tool::reduce {

/// One column of statistics.
struct Wanted {
  std::string name;
  std::optional<Reduction> reduction;  ///< None: a name that only the job knew; cannot be computed.
  bool saved_only = false;  ///< Asked for as one of those `saved`: not to be computed, unless --source says so.
};

/// What a `-r` list names, each once, in the order asked; `saved` stands for the names given.
/// @throws UsageError for a name that there is not.
[[nodiscard]] std::vector<Wanted> wanted_reductions(const std::vector<std::string>& list, bool abs,
                                                    const std::set<std::string>& saved);

/// How statistics of several arrays give that of all of them as one: min, max, sum, prod or l2 of the statistics. None:
/// they do not.
[[nodiscard]] std::optional<Reduction> pooling_of(const Wanted& wanted) noexcept;

}  // namespace smd::tool::reduce
