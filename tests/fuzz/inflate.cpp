// SPDX-License-Identifier: Apache-2.0
// Inflates the input from front to back, and then a range of it, which must have the same bytes.
#include "wire/inflate.hpp"

#include "require.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)looks_compressed(std::as_bytes(std::span(data, size)));
  InflatedFile file([&](std::uint64_t offset, std::span<std::byte> into) -> Outcome<std::size_t> {
    const std::size_t got = offset < size ? std::min<std::size_t>(into.size(), size - offset) : 0;
    if (got != 0) {
      std::memcpy(into.data(), data + offset, got);
    }
    return got;
  });
  std::vector<std::byte> all;
  std::array<std::byte, 4096> block;
  while (all.size() < (std::size_t{1} << 20)) {
    const auto got = file.read_at(all.size(), block);
    if (!got) {
      const ProblemKind kind = got.problem().kind;
      SMD_REQUIRE(kind == ProblemKind::damaged || kind == ProblemKind::not_yet);  // invalid, or cut off
      SMD_REQUIRE(got.problem().offset && *got.problem().offset <= size);
      break;
    }
    all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(*got));
    if (*got < block.size()) {
      break;
    }
  }
  if (all.size() >= 3) {
    const std::size_t start = all.size() / 3;
    const auto range = file.read_range(start, start);
    SMD_REQUIRE(range && std::equal(range->begin(), range->end(), all.begin() + static_cast<std::ptrdiff_t>(start)));
  }
  return 0;
}
