// SPDX-License-Identifier: Apache-2.0
#include "base/crc32.hpp"

#include "base/cpu_features.hpp"

#include <zlib.h>

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace smd::detail {
namespace {

std::uint32_t by_zlib(std::span<const std::byte> bytes, std::uint32_t previous) noexcept {
  return bytes.empty() ? previous  // for no bytes, zlib would begin anew
                       : static_cast<std::uint32_t>(
                             crc32_z(previous, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#if defined(__x86_64__)

// Folding by carry-less multiplication: Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction", Intel, 2009. The constants are those of its appendix for reflected bits: x^(n + 32) and x^(n - 32)
// modulo the polynomial, to move on by n bits.

#define SMD_TARGET_CLMUL __attribute__((target("sse4.1,pclmul")))

constexpr std::size_t lane_bytes = 16;

SMD_TARGET_CLMUL __m128i load(const void* bytes) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(bytes));
}

/// Moves a lane on by as many bits as `by` is made for, onto what stands there.
SMD_TARGET_CLMUL __m128i fold(__m128i from, __m128i onto, __m128i by) noexcept {
  return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(from, by, 0x00), _mm_clmulepi64_si128(from, by, 0x11)), onto);
}

/// Returns the remainder of a lane: Barrett's reduction.
SMD_TARGET_CLMUL std::uint32_t reduced(__m128i lane, __m128i by128) noexcept {
  const __m128i low = _mm_setr_epi32(-1, 0, -1, 0);
  const __m128i polynomial = _mm_set_epi64x(0x1F7011641, 0x1DB710641);
  lane = _mm_xor_si128(_mm_srli_si128(lane, 8), _mm_clmulepi64_si128(lane, by128, 0x10));
  lane = _mm_xor_si128(_mm_srli_si128(lane, 4),
                       _mm_clmulepi64_si128(_mm_and_si128(lane, low), _mm_set_epi64x(0, 0x163CD6124), 0x00));
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(lane, low), polynomial, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low), polynomial, 0x00);
  return static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(lane, quotient), 1));
}

/// @pre there are at least two lanes of bytes
SMD_TARGET_CLMUL std::uint32_t by_multiplication(std::span<const std::byte> bytes, std::uint32_t previous) noexcept {
  const __m128i by128 = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
  const __m128i by512 = _mm_set_epi64x(0x1C6E41596, 0x154442BD4);
  // Zeros before a text do not change its remainder: they fill the first lane, so that no byte is left at the end.
  const std::size_t odd = bytes.size() % lane_bytes;
  std::array<std::byte, 3 * lane_bytes> first{};
  std::byte* const begin = first.data() + lane_bytes - odd;
  std::memcpy(begin, bytes.data(), 2 * lane_bytes);
  std::uint32_t start = 0;
  std::memcpy(&start, begin, sizeof start);
  start ^= ~previous;
  std::memcpy(begin, &start, sizeof start);
  __m128i lane = fold(load(first.data()), load(first.data() + lane_bytes), by128);
  const std::byte* at = bytes.data() + odd + lane_bytes;
  const std::byte* const end = bytes.data() + bytes.size();
  if (end - at >= 64) {
    __m128i a = fold(lane, load(at), by128);
    __m128i b = load(at + 16);
    __m128i c = load(at + 32);
    __m128i d = load(at + 48);
    for (at += 64; end - at >= 64; at += 64) {
      a = fold(a, load(at), by512);
      b = fold(b, load(at + 16), by512);
      c = fold(c, load(at + 32), by512);
      d = fold(d, load(at + 48), by512);
    }
    lane = fold(fold(fold(a, b, by128), c, by128), d, by128);
  }
  for (; at != end; at += lane_bytes) {
    lane = fold(lane, load(at), by128);
  }
  return ~reduced(lane, by128);
}

#endif

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t previous) noexcept {
#if defined(__x86_64__)
  static const bool multiplies = SMD_CPU_HAS(PCLMULQDQ, "pclmul") && SMD_CPU_HAS(SSE4_1, "sse4.1");
  if (multiplies && bytes.size() >= 2 * lane_bytes) {
    return by_multiplication(bytes, previous);
  }
#endif
  return by_zlib(bytes, previous);
}

}  // namespace smd::detail
