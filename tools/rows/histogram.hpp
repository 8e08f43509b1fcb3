// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>
#include <smd/value_reader.hpp>

#include <cstdint>
#include <vector>

namespace smd::tool {

/// Counts elements in bins of equal width, as `numpy.histogram` of the elements as float64: a bin includes its left
/// edge, the last one its right edge too. Elements outside the range, and NaN, are counted separately.
class Histogram {
 public:
  /// Makes `bins` bins between two finite bounds. Equal bounds are widened by one half in each direction, as in NumPy.
  /// @throws UsageError if `bins` is 0 or above 2^24, a bound is not finite, or low exceeds high.
  Histogram(std::uint64_t bins, double low, double high);

  /// Adds the elements of a view. @throws InvalidArgument for strings and complex numbers.
  void add(const TensorView& view);
  /// Adds all elements of an open value. Returns false if reading failed; some elements may have been added.
  [[nodiscard]] bool add(Extent& value);
  /// @throws UsageError unless bins and bounds are equal.
  void merge(const Histogram& other);
  /// Removes all elements.
  void clear() noexcept;

  [[nodiscard]] const std::vector<double>& edges() const noexcept { return edges_; }  ///< One more than bins.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  /// How many elements, besides NaN, are not within the bounds.
  [[nodiscard]] std::uint64_t outside() const noexcept { return outside_; }
  [[nodiscard]] std::uint64_t nan() const noexcept { return nan_; }

 private:
  std::vector<double> edges_;
  std::vector<std::uint64_t> counts_;
  double unit_ = 1;
  double per_unit_ = 0;
  std::uint64_t outside_ = 0;
  std::uint64_t nan_ = 0;
};

}  // namespace smd::tool
