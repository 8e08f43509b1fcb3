// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/doubles.hpp"
#include "reduce/exact_sum.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace smd::detail::reduce {

/// A sum of squares and products of any doubles, including those whose squares leave double's range. Terms are added
/// without rounding, so their order does not matter.
class WideSum {
 public:
  /// Precondition: finite.
  void add(double value) noexcept { middle_.add(value); }
  /// Precondition: finite, and 0 or at least 2^-2148 in magnitude: the square of a double.
  void add(long double value);
  void add(const WideSum& other);
  void clear() noexcept;

  [[nodiscard]] long double value() const noexcept;

 private:
  /// The sums of terms above 2^900 and below 2^-900 in magnitude, scaled into range.
  struct Ends {
    ExactSum large;
    ExactSum small;
  };
  [[nodiscard]] Ends& ends();

  ExactSum middle_;
  std::unique_ptr<Ends> ends_;  // few sums need it
};

/// Returns the squared distances from the mean of 64-bit integers, or of their magnitudes, that are too far apart for
/// doubles to hold the distances. With few elements, rounding errors would not average out.
/// @param n at most block_size, so that no sum overflows.
/// @param base not greater than any of them.
DoubleDouble wide_squares(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base);

}  // namespace smd::detail::reduce
