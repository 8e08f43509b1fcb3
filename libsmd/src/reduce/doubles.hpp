// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/kernels.hpp"

#include <smd/elements.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace smd::detail::reduce {

/// Returns the number of whole elements in a view: that of its shape, but no more than its bytes hold; of text 0.
inline std::size_t whole_elements(const TensorView& view) noexcept {
  const std::size_t item = item_size(view.dtype());
  return item == 0 ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(view.size(), view.bytes().size() / item));
}

/// Returns the bits of the element `i` of 64 bits.
inline std::uint64_t bits_at(const std::byte* source, std::size_t i) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
  return bits;
}

/// Converts 64-bit integers to doubles, each rounded to nearest.
inline void round_integers(bool is_signed, const std::byte* source, std::size_t n, double* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = bits_at(source, i);
    out[i] = is_signed ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
  }
  std::fill(out + n, out + n + block_padding / 2, 0.0);
}

/// Converts at most `block_size` elements of a real type, each to the nearest double, and fills the padding with zeros.
inline void to_doubles(Dtype type, const std::byte* source, std::size_t n, double* out) {
  if (type == Dtype::int64 || type == Dtype::uint64) {
    round_integers(type == Dtype::int64, source, n, out);
  } else {
    BlockRange range;
    kernels().decode(type, source, n, out, range);
  }
}

/// Converts elements of a real or complex type to their real and imaginary parts.
inline void to_parts(Dtype type, const std::byte* source, std::size_t n, double* real, double* imaginary) {
  const std::array<std::int64_t, 1> shape = {static_cast<std::int64_t>(n)};
  visit_elements({type, shape, {source, n * item_size(type)}}, [&](const auto& elements) {
    using Number = decltype(elements[0]);
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (std::is_arithmetic_v<Number>) {
        real[i] = static_cast<double>(elements[i]);
        imaginary[i] = 0;
      } else {
        real[i] = static_cast<double>(elements[i].real());
        imaginary[i] = static_cast<double>(elements[i].imag());
      }
    }
  });
}

/// Returns 2^exponent. Precondition: exponent is in -1022 … 1023.
inline double power_of_two(int exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Returns the e with 2^(e-1) <= |value| < 2^e of a finite number other than 0; -1022 for all subnormal numbers.
inline int exponent_above(double value) noexcept {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 2047U) - 1022;
}

/// An unevaluated sum of two doubles, about 106 bits. The low part is at most half a unit in the last place of the
/// high one, which is the rounded sum; it is 0 if the high part is infinite or NaN.
/// Operations after Dekker, 1971, and Knuth; each errs by a few units of 2^-104.
struct DoubleDouble {
  double hi = 0;
  double lo = 0;
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

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// Returns |x| of a signed integer's bits; that of the smallest one is 2^63, which fits.
inline std::uint64_t magnitude_of(std::uint64_t bits) noexcept { return (bits >> 63) != 0 ? ~bits + 1 : bits; }

/// Returns the integer that 64 bits represent.
inline Int128 integer_from(bool is_signed, std::uint64_t bits) noexcept {
  return is_signed ? Int128{static_cast<std::int64_t>(bits)} : static_cast<Int128>(bits);
}

/// Converts to a double-double, accurate to 106 bits.
inline DoubleDouble to_pair(Int128 value) noexcept {
  const auto high = static_cast<double>(value);
  // high may be rounded up past the largest Int128, but sums of counted integers never get that large.
  return {high, static_cast<double>(value - static_cast<Int128>(high))};
}

}  // namespace smd::detail::reduce
