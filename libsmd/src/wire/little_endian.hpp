// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/endian/conversion.hpp>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

namespace smd::detail::wire {

/// Returns the number in the first bytes of `from`. Precondition: `from` is long enough.
template <std::unsigned_integral T>
[[nodiscard]] T load_little(std::span<const std::byte> from) noexcept {
  T value;
  std::memcpy(&value, from.data(), sizeof value);
  return boost::endian::little_to_native(value);
}

template <std::unsigned_integral T>
void store_little(std::byte* into, T value) noexcept {
  boost::endian::native_to_little_inplace(value);
  std::memcpy(into, &value, sizeof value);
}

}  // namespace smd::detail::wire
