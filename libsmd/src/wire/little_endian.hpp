// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace smd::detail::wire {

/// Returns the number in the first bytes of `from`. Precondition: `from` is long enough.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T load_little(std::span<const std::byte> from) noexcept {
  T value = 0;
  if (std::endian::native == std::endian::little && !std::is_constant_evaluated()) {
    std::memcpy(&value, from.data(), sizeof value);  // one instruction, to which compilers do not reduce the loop
    return value;
  }
  for (std::size_t at = 0; at < sizeof(T); ++at) {
    value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(from[at]) << (8 * at)));
  }
  return value;
}

template <std::unsigned_integral T>
constexpr void store_little(std::byte* into, T value) noexcept {
  if (std::endian::native == std::endian::little && !std::is_constant_evaluated()) {
    std::memcpy(into, &value, sizeof value);
    return;
  }
  for (std::size_t at = 0; at < sizeof(T); ++at) {
    into[at] = static_cast<std::byte>(value >> (8 * at));
  }
}

}  // namespace smd::detail::wire
