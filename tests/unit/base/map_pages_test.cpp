// SPDX-License-Identifier: Apache-2.0
#include "base/map_pages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

using namespace smd::detail;

TEST_CASE("memory whose pages were mapped has the bytes that it had, and can be written") {
  constexpr std::size_t size = std::size_t{1} << 20;
  std::vector<unsigned char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>(i % 251);
  }
  const std::vector<unsigned char> before = bytes;
  map_pages(bytes);
  map_pages(bytes.data() + 4097, size / 2 + 1);  // neither begins nor ends on a page
  map_pages(bytes.data(), 0);
  CHECK(bytes == before);
  std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(255));
  CHECK(std::count(bytes.begin(), bytes.end(), 255) == static_cast<std::ptrdiff_t>(size));
}

TEST_CASE("a vector's reserved memory can be mapped before it has elements") {
  std::vector<int> reserved;
  map_pages(reserved);
  reserved.reserve(100'000);
  map_pages(reserved);
  reserved.resize(100'000);
  CHECK(std::count(reserved.begin(), reserved.end(), 0) == 100'000);
}
