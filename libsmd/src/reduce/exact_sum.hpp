// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/double_double.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace smd::detail::reduce {

/// The sum of any number of finite doubles without any rounding, as a fixed-point number wide enough for all of them:
/// Neal, "Fast exact summation using small and large superaccumulators", 2015. Addition is exact, so the order and
/// the grouping of what is added cannot be seen in the result. Under 600 bytes; up to 2^63 additions. Up to two numbers
/// are only held, since of short values there are no more.
class ExactSum {
 public:
  /// @param value finite.
  void add(double value) noexcept;
  void add(const ExactSum& other) noexcept;
  /// Back to 0; for next to nothing if little was added.
  void clear() noexcept {
    if (held_count_ == 3) {
      chunk_.fill(0);
      since_carry_ = 0;
    }
    held_count_ = 0;
    held_ = {};
  }

  /// The sum, correctly rounded (to nearest, ties to even); infinite if it exceeds double's range.
  [[nodiscard]] double rounded() const noexcept;
  /// The sum as two doubles: the rounded sum, and what that leaves, rounded.
  [[nodiscard]] DoubleDouble pair() const noexcept;

 private:
  void spread(double value) noexcept;
  void carry() noexcept;

  // chunk_[i] counts units of 2^(32 i - 1074). Additions are below 2^53 each, so that 2^10 of them fit before carrying.
  static constexpr int chunks = 67;
  static constexpr int additions_before_carry = 1 << 9;
  std::array<std::int64_t, chunks> chunk_{};
  int since_carry_ = 0;
  int held_count_ = 0;  // at most 2; 3: the chunks have it all
  std::array<double, 2> held_{};
};

}  // namespace smd::detail::reduce
