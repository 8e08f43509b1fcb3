// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.hpp"

#include "base/crc32c_instruction.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace smd::detail {

namespace {

// Bits are reflected: bit 31 is the coefficient of x^0.
constexpr std::uint32_t crc32c_polynomial = 0x82F63B78u;

// ---- any CPU ----

constexpr std::uint32_t reversed(std::uint32_t bits) noexcept {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    result |= (bits >> i & 1) << (31 - i);
  }
  return result;
}

std::uint32_t by_table(std::uint32_t state, const unsigned char* data, std::size_t size) noexcept {
  // Boost takes what it begins with in the other order of bits.
  boost::crc_optimal<32, reversed(crc32c_polynomial), 0, 0, true, true> crc(reversed(state));
  crc.process_bytes(data, size);
  return crc.checksum();
}

bool always() noexcept { return true; }

#if defined(__x86_64__)

// ---- x86: polynomials modulo that of CRC-32C, for constants ----

/// Returns a times b.
constexpr std::uint32_t multiply_modulo(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) {
      product ^= b;
    }
    b = (b >> 1) ^ ((b & 1) != 0 ? crc32c_polynomial : 0);
  }
  return product;
}

/// Returns x to the power of n.
constexpr std::uint32_t power_modulo(std::uint64_t n) noexcept {
  std::uint32_t result = 0x80000000u;
  std::uint32_t square = 0x40000000u;
  for (; n != 0; n >>= 1) {
    if ((n & 1) != 0) {
      result = multiply_modulo(result, square);
    }
    square = multiply_modulo(square, square);
  }
  return result;
}

// ---- x86: the crc32 instruction, three streams at once to hide its latency ----

#define SMD_TARGET_SSE42 __attribute__((target("sse4.2,pclmul")))

std::uint64_t load64(const unsigned char* data) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, data, sizeof value);
  return value;
}

bool has_sse42() noexcept { return has_crc_instruction() && SMD_CPU_HAS(PCLMULQDQ, "pclmul"); }

/// Returns the register after `bits` more zero bits, given x^(bits - 33): the product of two reflected polynomials
/// comes out one bit low, and the instruction multiplies by x^32.
SMD_TARGET_SSE42 std::uint32_t skip_zeros(std::uint32_t state, std::uint32_t power) noexcept {
  const __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi32_si128(static_cast<int>(state)), _mm_cvtsi32_si128(static_cast<int>(power)), 0);
  return static_cast<std::uint32_t>(_mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product))));
}

/// Processes as many runs of three blocks as fit `size`.
template <std::size_t Block>
SMD_TARGET_SSE42 std::uint32_t three_streams(std::uint32_t state, const unsigned char*& data,
                                             std::size_t& size) noexcept {
  constexpr std::uint32_t over_one = power_modulo(Block * 8 - 33);
  constexpr std::uint32_t over_two = power_modulo(2 * Block * 8 - 33);
  for (; size >= 3 * Block; data += 3 * Block, size -= 3 * Block) {
    std::uint64_t a = state;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    for (std::size_t at = 0; at < Block; at += 8) {
      a = _mm_crc32_u64(a, load64(data + at));
      b = _mm_crc32_u64(b, load64(data + Block + at));
      c = _mm_crc32_u64(c, load64(data + 2 * Block + at));
    }
    state = skip_zeros(static_cast<std::uint32_t>(a), over_two) ^ skip_zeros(static_cast<std::uint32_t>(b), over_one) ^
            static_cast<std::uint32_t>(c);
  }
  return state;
}

SMD_TARGET_SSE42 std::uint32_t by_sse42(std::uint32_t state, const unsigned char* data, std::size_t size) noexcept {
  state = three_streams<4096>(state, data, size);
  state = three_streams<256>(state, data, size);
  return crc32c_in_steps(state, data, size);
}

constexpr std::array<Crc32cKernel, 2> kernels = {Crc32cKernel{"table", always, by_table},
                                                 Crc32cKernel{"sse4.2", has_sse42, by_sse42}};

#elif defined(__aarch64__)

// ---- Arm: the crc32c instruction ----

constexpr std::array<Crc32cKernel, 2> kernels = {Crc32cKernel{"table", always, by_table},
                                                 Crc32cKernel{"crc", has_crc_instruction, crc32c_in_steps}};

#else

constexpr std::array<Crc32cKernel, 1> kernels = {Crc32cKernel{"table", always, by_table}};

#endif

}  // namespace

std::span<const Crc32cKernel> crc32c_kernels() noexcept { return kernels; }

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous) noexcept {
  static const Crc32cKernel::Function run =
      std::ranges::find_if(kernels.rbegin(), kernels.rend(), [](const Crc32cKernel& one) {
        return one.supported();
      })->function;
  return ~run(~previous, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace smd::detail
