// SPDX-License-Identifier: Apache-2.0
#include "base/crc32.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace detail = smd::detail;

TEST_CASE("CRC-32 of published test vectors") {
  const auto of = [](std::string_view text) {
    return detail::crc32(std::as_bytes(std::span(text.data(), text.size())));
  };
  CHECK(of("") == 0);
  CHECK(of("123456789") == 0xCBF43926u);
  CHECK(of("The quick brown fox jumps over the lazy dog") == 0x414FA339u);
}

TEST_CASE("CRC-32 agrees with zlib's at every size and alignment, whole and in two parts") {
  std::mt19937_64 random(5);
  std::vector<std::byte> data(5000);
  for (std::byte& b : data) {
    b = static_cast<std::byte>(random());
  }
  std::size_t wrong = 0;
  for (std::size_t size = 0; size < 1100; ++size) {
    const std::size_t many = size < 1000 ? size : 4 * size;
    const auto part = std::span<const std::byte>(data).subspan(random() % 64, many);
    const auto expected =
        ::crc32(::crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    const std::size_t cut = size == 0 ? 0 : random() % size;
    wrong += detail::crc32(part) != expected;
    wrong += detail::crc32(part.subspan(cut), detail::crc32(part.first(cut))) != expected;
  }
  CHECK(wrong == 0);
}
