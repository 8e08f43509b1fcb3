// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/doubles.hpp"

#include <array>
#include <cstdint>

namespace smd::detail::reduce {

/// The sum of any number of finite doubles without rounding, as a fixed-point number wide enough for all of them:
/// Neal, "Fast exact summation using small and large superaccumulators", 2015. Because addition is exact, the result
/// does not depend on the order or grouping of the terms. Takes less than 600 bytes; at most 2^63 additions. The first
/// two numbers are only stored, because short values have no more.
class ExactSum {
 public:
  /// Precondition: `value` is finite.
  void add(double value) noexcept;
  void add(const ExactSum& other) noexcept;
  /// Resets to 0; cheap if little was added.
  void clear() noexcept {
    if (held_count_ == 3) {
      chunk_.fill(0);
      since_carry_ = 0;
    }
    held_count_ = 0;
    held_ = {};
  }

  /// Returns the sum, correctly rounded (to nearest, ties to even); infinite if it exceeds double's range.
  [[nodiscard]] double rounded() const noexcept;
  /// Returns the sum as two doubles: the rounded sum, and the rounded remainder.
  [[nodiscard]] DoubleDouble pair() const noexcept;

 private:
  void spread(double value) noexcept;
  void carry() noexcept;

  // chunk_[i] counts units of 2^(32 i - 1074). Each addition is below 2^53, so 2^10 of them fit before a carry.
  static constexpr int chunks = 67;
  static constexpr int additions_before_carry = 1 << 9;
  std::array<std::int64_t, chunks> chunk_{};
  int since_carry_ = 0;
  int held_count_ = 0;  // at most 2; 3: the chunks hold the sum
  std::array<double, 2> held_{};
};

}  // namespace smd::detail::reduce
