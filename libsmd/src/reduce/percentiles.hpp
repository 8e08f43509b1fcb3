// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include "reduce/elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

namespace smd::detail::reduce {

/// Where a percentile lies among sorted elements: at the one of this rank, or by `weight` nearer to the next one.
struct PercentilePlace {
  std::size_t rank;
  double weight;  ///< From 0 to below 1.
};

/// @param others number of elements, not 0.
inline PercentilePlace percentile_place(double percent, std::size_t others) noexcept {
  const double place = percent / 100 * static_cast<double>(others - 1);
  const double floor = std::floor(place);
  return {std::min(static_cast<std::size_t>(floor), others - 1), place - floor};
}

/// Percentiles of elements in place: linear interpolation between the two nearest elements (with `magnitude`: of |x|),
/// as numpy.percentile in float64. NaN are skipped.
///
/// Memory, for elements stored as float if it represents them, otherwise as double: for each expected percentile an
/// eighth of the elements if there are a million, a hundredth if there are a thousand million, half if there are few;
/// the same amount once more; and up to one and a half times all elements if a sample misleads.
class Percentiles {
 public:
  virtual ~Percentiles() = default;

  /// Announces a percentile, so that add() searches for it; at most four are searched for. Must be called before
  /// add().
  virtual void expect(bool magnitude, double percent) = 0;
  /// Reads the next `n` elements, best while they are in the cache.
  virtual void add(std::size_t n) = 0;
  /// @param others number of elements that are not NaN; 0 gives NaN.
  [[nodiscard]] virtual double of(bool magnitude, double percent, std::size_t others) = 0;
};

/// @param source `n` elements of a real storage type, not necessarily aligned; must outlive the result.
[[nodiscard]] std::unique_ptr<Percentiles> percentiles_of(Dtype type, const std::byte* source, std::size_t n);
[[nodiscard]] std::unique_ptr<Percentiles> percentiles_of(const RealElements<float>& elements);
[[nodiscard]] std::unique_ptr<Percentiles> percentiles_of(const RealElements<double>& elements);

}  // namespace smd::detail::reduce
