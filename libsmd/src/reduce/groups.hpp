// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/reduction.hpp>

#include <span>

namespace smd::detail::reduce {

/// Which groups of figures are wanted. Order and the count of special elements are always kept.
struct Groups {
  bool sum = false;          ///< The exact sum.
  bool moments = false;      ///< Sum and squared distances.
  bool magnitudes = false;   ///< Sum of |x|.
  bool abs_moments = false;  ///< Squared distances of |x|.
  bool abs_min = false;
  bool product = false;
  bool signs = false;   ///< How many are zero, how many negative.
  bool values = false;  ///< Keep the elements.

  bool operator==(const Groups&) const = default;
  [[nodiscard]] bool any_sum() const noexcept { return sum || moments || magnitudes; }
};

[[nodiscard]] Groups both(const Groups& a, const Groups& b);
/// What these reductions are made of.
/// @throws InvalidArgument if there is no such reduction.
[[nodiscard]] Groups groups_of(std::span<const Reduction> wanted);

}  // namespace smd::detail::reduce
