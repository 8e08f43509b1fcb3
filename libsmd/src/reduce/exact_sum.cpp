// SPDX-License-Identifier: Apache-2.0
#include "reduce/exact_sum.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace smd::detail::reduce {
namespace {

constexpr std::int64_t chunk_mask = (std::int64_t{1} << 32) - 1;
constexpr int lowest_exponent = -1074;

}  // namespace

void ExactSum::add(double value) noexcept {
  if (held_count_ < 2) {
    held_[static_cast<std::size_t>(held_count_++)] = value;
    return;
  }
  if (held_count_ == 2) {
    held_count_ = 3;
    spread(held_[0]);
    spread(held_[1]);
  }
  spread(value);
}

void ExactSum::spread(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  auto exponent = static_cast<unsigned>(bits >> 52) & 2047U;
  std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent != 0) {
    fraction |= std::uint64_t{1} << 52;
    --exponent;  // so that exponent counts from 2^-1074, as for subnormal numbers
  }
  const unsigned index = exponent >> 5;
  const unsigned shift = exponent & 31U;
  const auto low = static_cast<std::int64_t>((fraction << shift) & static_cast<std::uint64_t>(chunk_mask));
  const auto high = static_cast<std::int64_t>(fraction >> (32 - shift));
  const std::int64_t sign = -static_cast<std::int64_t>(bits >> 63);  // 0 or -1
  chunk_[index] += (low ^ sign) - sign;
  chunk_[index + 1] += (high ^ sign) - sign;
  if (++since_carry_ >= additions_before_carry) {
    carry();
  }
}

void ExactSum::add(const ExactSum& other) noexcept {
  if (other.held_count_ < 3) {
    for (int i = 0; i < other.held_count_; ++i) {
      add(other.held_[static_cast<std::size_t>(i)]);
    }
    return;
  }
  for (int i = 0; held_count_ < 3 && i < held_count_; ++i) {
    spread(held_[static_cast<std::size_t>(i)]);
  }
  held_count_ = 3;
  ExactSum tidy = other;
  tidy.carry();
  carry();
  for (std::size_t i = 0; i < chunks; ++i) {
    chunk_[i] += tidy.chunk_[i];
  }
  carry();
}

// Normalises every chunk but the highest to 0 … 2^32 - 1; the highest takes the sign.
void ExactSum::carry() noexcept {
  for (std::size_t i = 0; i + 1 < chunks; ++i) {
    chunk_[i + 1] += chunk_[i] >> 32;
    chunk_[i] &= chunk_mask;
  }
  since_carry_ = 0;
}

double ExactSum::rounded() const noexcept {
  if (held_count_ < 3) {
    return held_[0] + held_[1] + 0.0;  // one rounding; never -0.0, as below
  }
  ExactSum tidy = *this;
  tidy.carry();
  const bool negative = tidy.chunk_[chunks - 1] < 0;
  if (negative) {
    for (std::int64_t& chunk : tidy.chunk_) {
      chunk = -chunk;
    }
    tidy.carry();
  }
  std::size_t top = chunks;
  while (top > 0 && tidy.chunk_[top - 1] == 0) {
    --top;
  }
  if (top == 0) {
    return 0;
  }
  if (top == chunks && tidy.chunk_[chunks - 1] > chunk_mask) {
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  // The leading chunk and the two below it, and whether any bit below them is set. Below the lowest chunk all are zero.
  const auto part = [&tidy](std::size_t i) { return static_cast<Uint128>(tidy.chunk_[i]); };
  Uint128 window = part(top - 1) << 64;
  window |= top > 1 ? part(top - 2) << 32 : 0;
  window |= top > 2 ? part(top - 3) : 0;
  const std::size_t below = top > 3 ? top - 3 : 0;
  const bool sticky =
      std::any_of(tidy.chunk_.begin(), tidy.chunk_.begin() + below, [](std::int64_t chunk) { return chunk != 0; });
  // The conversion rounds to nearest, ties to even, for which only the window's last bit need say that there is more.
  // Scaling does not round again: what is subnormal is a multiple of 2^-1074, as all sums are, and has fewer bits.
  const double rounded = static_cast<double>(window | (sticky ? 1U : 0U));
  const double magnitude = std::ldexp(rounded, lowest_exponent + 32 * (static_cast<int>(top) - 1) - 64);
  return negative ? -magnitude : magnitude;
}

DoubleDouble ExactSum::pair() const noexcept {
  if (held_count_ < 3) {
    const DoubleDouble sum = two_sum(held_[0], held_[1]);
    return {sum.hi + 0.0, sum.lo + 0.0};
  }
  const double high = rounded();
  if (!std::isfinite(high)) {
    return {high, 0};
  }
  ExactSum rest = *this;
  rest.carry();
  rest.add(-high);
  return {high, rest.rounded()};
}

}  // namespace smd::detail::reduce
