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

/// One way to compute a CRC-32C, and whether this CPU supports it. For tests, and for `crc32c`, which uses the last
/// supported one.
struct Crc32cKernel {
  /// `state` is the CRC register: the complement of a CRC.
  using Function = std::uint32_t (*)(std::uint32_t state, const unsigned char* data, std::size_t size) noexcept;

  const char* name;
  bool (*supported)() noexcept;
  Function function;
};

/// Returns all kernels, slowest first; the first runs on every CPU.
[[nodiscard]] std::span<const Crc32cKernel> crc32c_kernels() noexcept;

}  // namespace smd::detail
