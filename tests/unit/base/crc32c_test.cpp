// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.hpp"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace smd::detail;

namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

/// One bit at a time, directly from the definition; shares no constant with the code under test.
std::uint32_t bitwise(std::span<const std::byte> data) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const std::byte b : data) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const std::uint32_t top = (std::to_integer<std::uint32_t>(b) >> bit & 1) ^ (crc & 1);
      crc >>= 1;
      if (top != 0) {
        crc ^= 0x82F63B78u;  // 0x1EDC6F41 with its bits reversed
      }
    }
  }
  return ~crc;
}

}  // namespace

TEST_CASE("CRC-32C of published test vectors") {
  CHECK(crc32c(bytes("123456789")) == 0xE3069283u);
  CHECK(crc32c({}) == 0);
  // RFC 3720, B.4, which lists the CRC as bytes, least significant first.
  CHECK(crc32c(bytes(std::string(32, '\0'))) == 0x8A9136AAu);
  CHECK(crc32c(bytes(std::string(32, '\xff'))) == 0x62A8AB43u);
  std::string up(32, '\0');
  std::string down(32, '\0');
  for (int n = 0; n < 32; ++n) {
    up[static_cast<std::size_t>(n)] = static_cast<char>(n);
    down[static_cast<std::size_t>(n)] = static_cast<char>(31 - n);
  }
  CHECK(crc32c(bytes(up)) == 0x46DD794Eu);
  CHECK(crc32c(bytes(down)) == 0x113FDB5Cu);
  constexpr std::string_view scsi_read(
      "\x01\xc0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x14"
      "\x00\x00\x00\x18\x28\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00",
      48);
  CHECK(crc32c(bytes(scsi_read)) == 0xD9963A56u);
}

TEST_CASE("the masked form, and the magic footer derived from it") {
  // docs/format.md: the magic value is the masked CRC of the ten characters 0x12345678.
  CHECK(mask_crc(crc32c(bytes("0x12345678"))) == 0x062DC0B3u);
  CHECK(mask_crc(0) == 0xA282EAD8u);
}

TEST_CASE("every kernel that this CPU can run agrees with the definition, at every size and alignment") {
  std::mt19937_64 random(5);
  std::vector<std::byte> data(40'000);
  for (std::byte& b : data) {
    b = static_cast<std::byte>(random());
  }
  REQUIRE(crc32c_kernels().front().supported());
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < 1100; ++size) {
    sizes.push_back(size);
  }
  for (const std::size_t size : {3 * 4096 - 1, 3 * 4096, 3 * 4096 + 1, 24'577, 30'000, 39'900}) {
    sizes.push_back(size);
  }
  std::size_t wrong = 0;
  for (const std::size_t size : sizes) {
    const std::size_t offset = random() % 64;
    const auto part = std::span<const std::byte>(data).subspan(offset, size);
    const std::uint32_t expected = bitwise(part);
    for (const Crc32cKernel& kernel : crc32c_kernels()) {
      if (kernel.supported()) {
        const auto* const begin = reinterpret_cast<const unsigned char*>(part.data());
        wrong += ~kernel.function(~0u, begin, size) != expected;
        // in two pieces, the second continuing the first
        const std::size_t cut = size == 0 ? 0 : random() % size;
        wrong += ~kernel.function(kernel.function(~0u, begin, cut), begin + cut, size - cut) != expected;
      }
    }
    wrong += crc32c(part) != expected;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a CRC continues from an earlier one") {
  const std::string text(5000, 'q');
  for (const std::size_t cut : {0, 1, 7, 8, 4096, 5000}) {
    const std::uint32_t first = crc32c(bytes(text).first(cut));
    CHECK(crc32c(bytes(text).subspan(cut), first) == bitwise(bytes(text)));
  }
}
