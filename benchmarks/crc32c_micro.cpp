// SPDX-License-Identifier: Apache-2.0
// CRC-32C of a buffer compared with memcpy of the same buffer, in turns, on one thread. Prints one JSON object.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "base/crc32c.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The best of `rounds` of each, in seconds, with `repeat` passes per round.
struct Times {
  double crc = std::numeric_limits<double>::infinity();
  double copy = std::numeric_limits<double>::infinity();
};

Times measure(std::size_t bytes, int repeat, int rounds) {
  const std::unique_ptr<std::byte[]> from(new std::byte[bytes]);
  const std::unique_ptr<std::byte[]> to(new std::byte[bytes]);
  for (std::size_t i = 0; i < bytes; ++i) {
    from[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  }
  std::memset(to.get(), 1, bytes);
  Times best;
  std::uint32_t crc = 0;
  for (int round = 0; round < rounds; ++round) {
    auto start = Clock::now();
    for (int i = 0; i < repeat; ++i) {
      crc = smd::detail::crc32c({from.get(), bytes}, crc);
    }
    best.crc = std::min(best.crc, seconds_since(start) / repeat);
    start = Clock::now();
    for (int i = 0; i < repeat; ++i) {
      std::memcpy(to.get(), from.get(), bytes);
      __asm__ __volatile__("" : : "r"(to.get()) : "memory");  // prevents the compiler from removing the copy
    }
    best.copy = std::min(best.copy, seconds_since(start) / repeat);
  }
  __asm__ __volatile__("" : : "r"(crc));
  return best;
}

}  // namespace

int main() {
  constexpr std::size_t mib = std::size_t{1} << 20;
  const Times large = measure(64 * mib, 1, 30);
  const Times cached = measure(mib, 64, 30);
  const auto speed = [](std::size_t bytes, double seconds) { return static_cast<double>(bytes) / seconds / 1e9; };
  std::printf(R"({"large": {"crc32c_gb_s": %.2f, "memcpy_gb_s": %.2f}, )"
              R"("cached": {"crc32c_gb_s": %.2f, "memcpy_gb_s": %.2f}})"
              "\n",
              speed(64 * mib, large.crc), speed(64 * mib, large.copy), speed(mib, cached.crc), speed(mib, cached.copy));
  return 0;
}
