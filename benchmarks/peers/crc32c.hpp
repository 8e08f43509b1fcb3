// SPDX-License-Identifier: Apache-2.0
// The masked CRC-32C of record files, without the library: with the processor's instruction if there is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bench {

inline std::uint32_t crc32c_by_table(const char* bytes, std::size_t size) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) {
        crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
      }
      made[i] = crc;
    }
    return made;
  }();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (std::size_t i = 0; i < size; ++i) {
    crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(bytes[i])) & 0xFFU];
  }
  return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) inline std::uint32_t crc32c_by_instruction(const char* bytes, std::size_t size) {
  std::uint64_t crc = 0xFFFFFFFFU;
  for (; size >= 8; size -= 8, bytes += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes, sizeof(eight));
    crc = __builtin_ia32_crc32di(crc, eight);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (; size > 0; --size, ++bytes) {
    rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(*bytes));
  }
  return ~rest;
}
#endif

inline std::uint32_t masked_crc32c(const char* bytes, std::size_t size) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  const std::uint32_t crc = has_instruction ? crc32c_by_instruction(bytes, size) : crc32c_by_table(bytes, size);
#else
  const std::uint32_t crc = crc32c_by_table(bytes, size);
#endif
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

}  // namespace bench
