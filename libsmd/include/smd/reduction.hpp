// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/tensor_view.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace smd {

/// Reductions that a job can save, in the order in which the reference lists them; each also with `abs_` in front.
inline constexpr std::array<std::string_view, 9> reduction_names = {"min", "max",  "mean", "std", "variance",
                                                                    "sum", "prod", "l1",   "l2"};

/// Figures over all elements of a value, computed in double precision. As NumPy: a NaN makes `min`, `max`, `mean` and
/// `std` NaN; without elements these four are NaN.
struct Statistics {
  std::uint64_t size = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double std = 0;          ///< Population standard deviation: the mean squared distance is divided by the size.
  std::uint64_t nan = 0;   ///< Elements that are NaN.
  std::uint64_t inf = 0;   ///< Elements that are positive or negative infinity.
  std::uint64_t zero = 0;  ///< Elements equal to 0, -0.0 included.
};

/// Statistics of a view of real numbers (`is_real`). Precondition: the view's type is real.
/// Mean and deviation by Chan, Golub, LeVeque: "Updating Formulae and a Pairwise Algorithm for Computing Sample
/// Variances", 1979. min and max of int64 and uint64 beyond 2^53 are rounded to double.
[[nodiscard]] SMD_EXPORT Statistics statistics(const TensorView& view);

}  // namespace smd
