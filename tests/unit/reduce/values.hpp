// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace smd_test {

/// Returns how many doubles apart two numbers are: 0 if equal or both NaN, huge if only one is finite or a number.
inline std::uint64_t ulps(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) {
    return 0;
  }
  if (!std::isfinite(a) || !std::isfinite(b)) {
    return ~std::uint64_t{0};
  }
  // The bits of doubles of one sign are ordered; those of negative ones are reversed.
  const auto place = [](double value) {
    const auto bits = std::bit_cast<std::int64_t>(value);
    return bits < 0 ? INT64_MIN - bits : bits;
  };
  const std::int64_t first = place(a);
  const std::int64_t second = place(b);
  return first > second ? static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(second)
                        : static_cast<std::uint64_t>(second) - static_cast<std::uint64_t>(first);
}

/// Knuth's MMIX generator: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ >> 11;
  }
  std::uint64_t below(std::uint64_t n) { return bits() % n; }
  /// -1 … 1.
  double number() { return std::ldexp(static_cast<double>(bits()), -52) - 1; }

 private:
  std::uint64_t state_;
};

}  // namespace smd_test
