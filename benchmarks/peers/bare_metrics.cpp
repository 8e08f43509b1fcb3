// SPDX-License-Identifier: Apache-2.0
// The minimum of work for a metric log, by hand, in one thread and one buffer, to compare the commands with.
//
// clang-format off
//   bench_bare_metrics lines FILE     read a text, and find where its lines end
//   bench_bare_metrics records FILE   read a run file of W&B, check the checksum of each chunk, and find where records end
// clang-format on
//
// The checksum is libsmd's, by carry-less multiplication, because zlib's alone would take longer than all else. Prints
// what it read.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/crc32.hpp"

namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} << 10;  // a multiple of a run file's blocks
constexpr std::size_t block_bytes = std::size_t{32} << 10;
constexpr std::size_t header_bytes = 7;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "bare_metrics: %s: %s\n", what, errno != 0 ? std::strerror(errno) : "damaged");
  std::exit(3);
}

std::uint64_t count_lines(std::string_view text) {
  std::uint64_t count = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    text.remove_prefix(end + 1);
    ++count;
  }
  return count;
}

/// Checks the chunks of a block, from an offset in it, and returns how many records end there.
std::uint64_t count_records(std::span<const std::byte> block, std::size_t at) {
  std::uint64_t count = 0;
  while (block.size() - at >= header_bytes) {
    std::uint32_t crc = 0;
    std::uint16_t length = 0;
    std::memcpy(&crc, &block[at], sizeof crc);
    std::memcpy(&length, &block[at + sizeof crc], sizeof length);
    const std::size_t end = at + header_bytes + length;
    if (end > block.size() ||
        smd::detail::crc32(block.subspan(at + header_bytes - 1, 1 + std::size_t{length})) != crc) {
      fail("chunk");
    }
    const auto type = std::to_integer<int>(block[at + header_bytes - 1]);
    count += type == 1 || type == 4 ? 1 : 0;
    at = end;
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc == 3 ? argv[1] : "";
  if (way != "lines" && way != "records") {
    std::fputs("usage: bench_bare_metrics lines|records FILE\n", stderr);
    return 2;
  }
  const int file = ::open(argv[2], O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    fail(argv[2]);
  }
  std::vector<std::byte> buffer(buffer_bytes);
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  ssize_t got = 0;
  while ((got = ::read(file, buffer.data(), buffer.size())) > 0) {
    const std::span<const std::byte> part(buffer.data(), static_cast<std::size_t>(got));
    if (way == "lines") {
      count += count_lines({reinterpret_cast<const char*>(part.data()), part.size()});
    } else {
      for (std::size_t at = 0; at < part.size(); at += block_bytes) {
        count += count_records(part.subspan(at).first(std::min(block_bytes, part.size() - at)),
                               bytes + at == 0 ? header_bytes : 0);
      }
    }
    bytes += part.size();
  }
  if (got < 0) {
    fail(argv[2]);
  }
  std::printf("%llu bytes, %llu\n", static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(count));
  return 0;
}
