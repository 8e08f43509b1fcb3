// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace smd::detail {

/// Returns the CRC-32C (Castagnoli) of `bytes`. To continue after earlier bytes, pass their CRC as `previous`. Uses
/// the CPU's CRC instructions if it has any.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0) noexcept;

/// Returns the form in which record files store a CRC: rotated and offset, so that a CRC over bytes that contain a CRC
/// is robust.
[[nodiscard]] constexpr std::uint32_t mask_crc(std::uint32_t crc) noexcept {
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

}  // namespace smd::detail
