// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace smd::detail {

/// CRC-32C (Castagnoli) of `bytes`. To go on after earlier bytes, pass their CRC as `previous`. Uses what the CPU has.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0) noexcept;

/// The form in which record files store a CRC: rotated and shifted, so that a CRC over bytes that hold one is sound.
[[nodiscard]] constexpr std::uint32_t mask_crc(std::uint32_t crc) noexcept {
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

}  // namespace smd::detail
