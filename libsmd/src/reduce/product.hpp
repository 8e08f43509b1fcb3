// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/doubles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace smd::detail::reduce {

/// A product in twice double's precision with an unbounded exponent, so that intermediate overflow and underflow lose
/// nothing.
struct Product {
  DoubleDouble mantissa{1, 0};  ///< |mantissa| is in 1 … 2, or 0 (with its sign) if a factor was 0.
  std::int64_t exponent = 0;

  /// Precondition: `factor` is finite.
  void multiply_by(DoubleDouble factor, std::int64_t power) noexcept {
    if (mantissa.hi == 0 || factor.hi == 0) {
      mantissa = {mantissa.hi * factor.hi, 0};  // keeps the sign, which a sum of parts would lose
      exponent = 0;
      return;
    }
    exponent += power + normalise(factor);
    mantissa = multiply(mantissa, factor);
    exponent += normalise(mantissa);
  }
  /// Multiplies by 0: from here on only signs matter.
  void multiply_by_zero(bool negative) noexcept {
    mantissa = {std::copysign(0.0, mantissa.hi) * (negative ? -1.0 : 1.0), 0};
    exponent = 0;
  }
  void merge(const Product& other) noexcept { multiply_by(other.mantissa, other.exponent); }

  [[nodiscard]] double value() const noexcept {
    // hi is already rounded to 53 bits; below 2^-1022 the low part changes the result by less than 2 units.
    return std::ldexp(mantissa.hi, static_cast<int>(std::clamp<std::int64_t>(exponent, -5000, 5000)));
  }

 private:
  // Scales |number|, which is not 0, to 1 … 2 and returns the exponent that was removed.
  static int normalise(DoubleDouble& number) noexcept {
    int exponent_above;
    const double fraction = std::frexp(number.hi, &exponent_above);
    number = quick_two_sum(2 * fraction, std::ldexp(number.lo, 1 - exponent_above));
    return exponent_above - 1;
  }
};

}  // namespace smd::detail::reduce
