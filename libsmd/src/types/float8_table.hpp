// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace smd::detail {

/// Returns true for the 8-bit floating-point types.
[[nodiscard]] inline bool is_float8(Dtype dtype) noexcept { return item_size(dtype) == 1 && is_floating(dtype); }

/// Returns the 256 values of a float8 type as bits of bfloat16. Precondition: `is_float8`.
[[nodiscard]] const std::array<std::uint16_t, 256>& float8_table(Dtype dtype) noexcept;

/// Converts elements of a float8 type to bits of bfloat16.
inline void widen_float8(Dtype dtype, const std::byte* source, std::size_t n, std::uint16_t* out) noexcept {
  const std::array<std::uint16_t, 256>& table = float8_table(dtype);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = table[std::to_integer<std::uint8_t>(source[i])];
  }
}

}  // namespace smd::detail
