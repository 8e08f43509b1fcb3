// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/exact_sum.hpp"

#include <array>
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

}  // namespace smd::detail::reduce
