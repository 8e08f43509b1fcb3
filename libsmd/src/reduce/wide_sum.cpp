// SPDX-License-Identifier: Apache-2.0
#include "reduce/wide_sum.hpp"

#include "reduce/int128.hpp"
#include "reduce/moments.hpp"

#include <cmath>
#include <cstring>

namespace smd::detail::reduce {

namespace {

// The square of the largest double becomes 2^748, that of the smallest 2^-948.
constexpr int large_scale = -1300;
constexpr int small_scale = 1200;

void add_in_parts(ExactSum& sum, long double value) {
  const auto high = static_cast<double>(value);
  sum.add(high);
  sum.add(static_cast<double>(value - static_cast<long double>(high)));
}

long double value_of(const ExactSum& sum) {
  const DoubleDouble pair = sum.pair();
  return static_cast<long double>(pair.hi) + static_cast<long double>(pair.lo);
}

}  // namespace

void WideSum::add(long double value) {
  const int exponent = value == 0 ? 0 : std::ilogb(value);
  if (exponent >= 900) {
    add_in_parts(ends().large, std::ldexp(value, large_scale));
  } else if (exponent < -900) {
    add_in_parts(ends().small, std::ldexp(value, small_scale));
  } else {
    add_in_parts(middle_, value);
  }
}

void WideSum::add(const WideSum& other) {
  middle_.add(other.middle_);
  if (other.ends_) {
    ends().large.add(other.ends_->large);
    ends().small.add(other.ends_->small);
  }
}

void WideSum::clear() noexcept {
  middle_.clear();
  ends_.reset();
}

long double WideSum::value() const noexcept {
  long double sum = value_of(middle_);
  if (ends_) {
    sum += std::ldexp(value_of(ends_->large), -large_scale) + std::ldexp(value_of(ends_->small), -small_scale);
  }
  return sum;
}

WideSum::Ends& WideSum::ends() {
  if (!ends_) {
    ends_ = std::make_unique<Ends>();
  }
  return *ends_;
}

DoubleDouble wide_squares(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base) {
  // A distance is high * 2^32 + low, its square high^2 * 2^64 + high * low * 2^33 + low^2.
  Uint128 sum = 0;
  Uint128 high_squares = 0;
  Uint128 products = 0;
  Uint128 low_squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
    bits = is_signed && magnitude ? magnitude_of(bits) : bits;
    const std::uint64_t distance = bits - base;
    const std::uint64_t high = distance >> 32;
    const std::uint64_t low = distance & 0xFFFFFFFFU;
    sum += distance;
    high_squares += high * high;
    products += high * low;
    low_squares += low * low;
  }
  const auto pair = [](Uint128 value) { return to_pair(static_cast<Int128>(value)); };
  const DoubleDouble squares =
      add(add(scale(pair(high_squares), 0x1p64), scale(pair(products), 0x1p33)), pair(low_squares));
  return centred(squares, pair(sum), n);
}

}  // namespace smd::detail::reduce
