// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace smd::detail {

/// One way to compute a CRC-32C, and whether this CPU can. For `crc32c`, which takes the last that can, and its tests.
struct Crc32cKernel {
  /// `state` is the CRC register: the complement of a CRC.
  using Function = std::uint32_t (*)(std::uint32_t state, const unsigned char* data, std::size_t size) noexcept;

  const char* name;
  bool (*supported)() noexcept;
  Function function;
};

/// Slowest first; the first runs everywhere.
[[nodiscard]] std::span<const Crc32cKernel> crc32c_kernels() noexcept;

}  // namespace smd::detail
