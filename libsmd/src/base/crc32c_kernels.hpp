// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace smd::detail {

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
