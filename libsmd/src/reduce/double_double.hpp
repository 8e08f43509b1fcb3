// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace smd::detail::reduce {

/// Returns 2^exponent. Precondition: exponent is in -1022 … 1023.
inline double power_of_two(int exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Returns the e with 2^(e-1) <= |value| < 2^e of a finite number other than 0; -1022 for all subnormal numbers.
inline int exponent_above(double value) noexcept {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 2047U) - 1022;
}

/// An unevaluated sum of two doubles, about 106 bits. The low part is at most half a unit in the last place of the
/// high one; it is 0 if the high part is infinite or NaN.
/// Operations after Dekker, 1971, and Knuth; each errs by a few units of 2^-104.
struct DoubleDouble {
  double hi = 0;
  double lo = 0;

  [[nodiscard]] double value() const noexcept { return hi; }
};

/// Returns a + b exactly. Precondition: |a| >= |b|, or a is 0.
inline DoubleDouble quick_two_sum(double a, double b) noexcept {
  const double sum = a + b;
  const double low = b - (sum - a);
  return {sum, std::isfinite(sum) ? low : 0};
}

/// Returns a + b exactly.
inline DoubleDouble two_sum(double a, double b) noexcept {
  const double sum = a + b;
  const double b_part = sum - a;
  const double low = (a - (sum - b_part)) + (b - b_part);
  return {sum, std::isfinite(sum) ? low : 0};
}

/// Returns a * b exactly, unless the product or its low part leaves double's range.
inline DoubleDouble two_product(double a, double b) noexcept {
  const double product = a * b;
  return {product, std::isfinite(product) ? std::fma(a, b, -product) : 0};
}

[[gnu::always_inline]] inline DoubleDouble add(DoubleDouble a, DoubleDouble b) noexcept {
  const DoubleDouble high = two_sum(a.hi, b.hi);
  const DoubleDouble low = two_sum(a.lo, b.lo);
  const DoubleDouble once = quick_two_sum(high.hi, high.lo + low.hi);
  return quick_two_sum(once.hi, once.lo + low.lo);
}

inline DoubleDouble negate(DoubleDouble a) noexcept { return {-a.hi, -a.lo}; }

inline DoubleDouble multiply(DoubleDouble a, DoubleDouble b) noexcept {
  const DoubleDouble high = two_product(a.hi, b.hi);
  return quick_two_sum(high.hi, high.lo + (a.hi * b.lo + a.lo * b.hi));
}

[[gnu::always_inline]] inline DoubleDouble divide(DoubleDouble a, double b) noexcept {
  const double first = a.hi / b;
  if (!std::isfinite(first)) {
    return {first, 0};
  }
  const double rest = std::fma(-first, b, a.hi) + a.lo;
  return quick_two_sum(first, rest / b);
}

/// Multiplies by a power of two. Exact within double's range.
inline DoubleDouble scale(DoubleDouble a, double power) noexcept { return quick_two_sum(a.hi * power, a.lo * power); }

}  // namespace smd::detail::reduce
