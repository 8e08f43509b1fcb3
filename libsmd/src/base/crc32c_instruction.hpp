// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include "base/cpu_features.hpp"

#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/// The CPU's own CRC-32C instruction, for functions that compute many short CRCs and have it inlined: they are declared
/// with SMD_TARGET_CRC, and called only if `has_crc_instruction`. Benchmark: measurements.py, `smd-ls, 1 tag x
/// 1,000,000 steps`.
namespace smd::detail {

#if defined(__x86_64__)

#define SMD_TARGET_CRC __attribute__((target("sse4.2")))

[[nodiscard]] inline bool has_crc_instruction() noexcept { return SMD_CPU_HAS(SSE4_2, "sse4.2"); }

SMD_TARGET_CRC inline std::uint32_t add_to_crc(std::uint32_t state, std::uint64_t bytes) noexcept {
  return static_cast<std::uint32_t>(_mm_crc32_u64(state, bytes));
}
SMD_TARGET_CRC inline std::uint32_t add_to_crc(std::uint32_t state, std::uint32_t bytes) noexcept {
  return _mm_crc32_u32(state, bytes);
}
SMD_TARGET_CRC inline std::uint32_t add_to_crc(std::uint32_t state, std::uint8_t byte) noexcept {
  return _mm_crc32_u8(state, byte);
}

#elif defined(__aarch64__)

#define SMD_TARGET_CRC __attribute__((target("+crc")))

[[nodiscard]] inline bool has_crc_instruction() noexcept { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }

SMD_TARGET_CRC inline std::uint32_t add_to_crc(std::uint32_t state, std::uint64_t bytes) noexcept {
  return __crc32cd(state, bytes);
}
SMD_TARGET_CRC inline std::uint32_t add_to_crc(std::uint32_t state, std::uint32_t bytes) noexcept {
  return __crc32cw(state, bytes);
}
SMD_TARGET_CRC inline std::uint32_t add_to_crc(std::uint32_t state, std::uint8_t byte) noexcept {
  return __crc32cb(state, byte);
}

#endif

#if defined(SMD_TARGET_CRC)

/// Returns the register after the next bytes of the type `Word`.
template <class Word>
SMD_TARGET_CRC std::uint32_t add_word_to_crc(std::uint32_t state, const unsigned char* data) noexcept {
  Word bytes = 0;
  std::memcpy(&bytes, data, sizeof bytes);
  return add_to_crc(state, bytes);
}

/// Returns the CRC register `state` after `size` bytes, one step after the other.
SMD_TARGET_CRC inline std::uint32_t crc32c_in_steps(std::uint32_t state, const unsigned char* data,
                                                    std::size_t size) noexcept {
  for (; size >= 8; data += 8, size -= 8) {
    state = add_word_to_crc<std::uint64_t>(state, data);
  }
  if ((size & 4) != 0) {
    state = add_word_to_crc<std::uint32_t>(state, data);
    data += 4;
  }
  for (size &= 3; size > 0; ++data, --size) {
    state = add_to_crc(state, std::uint8_t{*data});
  }
  return state;
}

#endif

}  // namespace smd::detail
