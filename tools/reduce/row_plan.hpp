// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <smd/reduction.hpp>
#include <vector>

#include "options.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// `both`: saved, and the elements are reduced too, since merging shards may have to compute it.
enum class How : std::uint8_t { missing, saved, both, computed };

[[nodiscard]] constexpr bool is_saved(How how) noexcept { return how == How::saved || how == How::both; }

/// Where a statistic comes from, given whether it was saved, and whether there are values to compute it from.
[[nodiscard]] How how_of(const ReduceCommandOptions& options, const Wanted& wanted, bool saved, bool has_values);

/// Where the statistics of a row come from; shared by all rows that are alike.
struct RowPlan {
  std::vector<How> how;
  std::vector<Reduction> computed;     ///< Computed now, or needed to compute it later,
  std::vector<std::size_t> positions;  ///< and the statistic that each of the first ones is.
  bool lacks = false;                  ///< Some statistic is missing.
  bool needs_values = false;           ///< Some reduction is best done with all elements in memory.
};

/// Holds every plan once. References to plans stay valid.
class RowPlans {
 public:
  explicit RowPlans(const std::vector<Wanted>& wanted) : wanted_(wanted) {}
  [[nodiscard]] const RowPlan& of(const std::vector<How>& how);

 private:
  const std::vector<Wanted>& wanted_;
  std::map<std::vector<How>, RowPlan> plans_;
};

}  // namespace smd::tool::reduce
