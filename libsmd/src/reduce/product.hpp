// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/double_double.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace smd::detail::reduce {

/// A product in twice double's precision whose exponent knows no bounds: that it grows beyond double's range, and
/// shrinks back, is no loss.
struct Product {
  DoubleDouble mantissa{1, 0};  ///< |mantissa| in 1 … 2, or 0 (with its sign) once a factor was 0.
  std::int64_t exponent = 0;

  /// @param factor finite.
  void multiply_by(DoubleDouble factor, std::int64_t power) noexcept {
    exponent += power + normalise(factor);
    mantissa = multiply(mantissa, factor);
    exponent += normalise(mantissa);
    if (mantissa.hi == 0) {
      exponent = 0;
    }
  }
  /// A factor of 0: only signs matter from here on.
  void multiply_by_zero(bool negative) noexcept {
    mantissa = {std::copysign(0.0, mantissa.hi) * (negative ? -1.0 : 1.0), 0};
    exponent = 0;
  }
  void merge(const Product& other) noexcept { multiply_by(other.mantissa, other.exponent); }

  [[nodiscard]] double value() const noexcept {
    // Rounded at 53 bits in hi already; below 2^-1022 the low part decides nothing that 2 units would show.
    return std::ldexp(mantissa.hi, static_cast<int>(std::clamp<std::int64_t>(exponent, -5000, 5000)));
  }

 private:
  // Brings |number| into 1 … 2 and tells the exponent taken out; 0 stays as it is.
  static int normalise(DoubleDouble& number) noexcept {
    int exponent_above;
    const double fraction = std::frexp(number.hi, &exponent_above);
    if (fraction == 0) {
      number.lo = 0;
      return 0;
    }
    number = quick_two_sum(2 * fraction, std::ldexp(number.lo, 1 - exponent_above));
    return exponent_above - 1;
  }
};

}  // namespace smd::detail::reduce
