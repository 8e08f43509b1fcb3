// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/reduction.hpp>

#include <span>

namespace smd::detail::reduce {

/// Which groups of statistics to compute. Minimum, maximum and the counts of special elements are always computed.
struct Groups {
  bool sum = false;          ///< Exact sum.
  bool moments = false;      ///< Sum and squared distances from the mean.
  bool magnitudes = false;   ///< Sum of |x|.
  bool abs_moments = false;  ///< Squared distances of |x| from its mean.
  bool abs_min = false;
  bool product = false;
  bool signs = false;   ///< Number of zero and of negative elements.
  bool values = false;  ///< Keep the elements.

  bool operator==(const Groups&) const = default;
  [[nodiscard]] bool any_sum() const noexcept { return sum || moments || magnitudes; }
};

[[nodiscard]] Groups both(const Groups& a, const Groups& b);
/// Returns the groups that these reductions need.
/// @throws InvalidArgument if a reduction does not exist.
[[nodiscard]] Groups groups_of(std::span<const Reduction> wanted);

}  // namespace smd::detail::reduce
