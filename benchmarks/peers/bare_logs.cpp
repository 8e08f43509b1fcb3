// SPDX-License-Identifier: Apache-2.0
// The minimum of work for log directories, by hand and without a library, to compare the commands with.
//
// clang-format off
//   bench_bare_logs read FOLDER THREADS     read each event file below FOLDER
//   bench_bare_logs check FOLDER THREADS    the same, and check both checksums of each record
// clang-format on
//
// Each thread has one buffer. Prints what it read.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "crc32c.hpp"

namespace {

constexpr std::size_t block = 256 << 10;
constexpr std::size_t header = 12;  // length and its checksum
constexpr std::size_t footer = 4;

std::atomic<std::uint64_t> bytes_read = 0;
std::atomic<std::uint64_t> records = 0;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bare_logs: %s: %s\n", what.c_str(), errno != 0 ? std::strerror(errno) : "damaged");
  std::exit(3);
}

template <class T>
T number_at(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Checks the whole records at the beginning of `bytes` and returns how long they are together.
std::size_t check(const char* bytes, std::size_t size, const std::string& path) {
  std::size_t done = 0;
  std::uint64_t count = 0;
  while (size - done >= header) {
    const char* const record = bytes + done;
    const auto length = number_at<std::uint64_t>(record);
    if (number_at<std::uint32_t>(record + 8) != bench::masked_crc32c(record, 8)) {
      errno = 0;
      fail(path);
    }
    if (length > size - done - header || size - done - header - length < footer) {
      break;
    }
    if (number_at<std::uint32_t>(record + header + length) != bench::masked_crc32c(record + header, length)) {
      errno = 0;
      fail(path);
    }
    done += header + length + footer;
    ++count;
  }
  records += count;
  return done;
}

void read_file(const std::string& path, bool checks, std::vector<char>& buffer) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    fail(path);
  }
  std::size_t kept = 0;
  std::uint64_t total = 0;
  while (true) {
    const ssize_t got = ::read(fd, buffer.data() + kept, buffer.size() - kept);
    if (got < 0) {
      fail(path);
    }
    if (got == 0) {
      break;
    }
    total += static_cast<std::uint64_t>(got);
    if (checks) {
      const std::size_t there = kept + static_cast<std::size_t>(got);
      const std::size_t done = check(buffer.data(), there, path);
      kept = there - done;
      std::memmove(buffer.data(), buffer.data() + done, kept);
      if (kept == buffer.size()) {
        buffer.resize(2 * buffer.size());
      }
    }
  }
  ::close(fd);
  bytes_read += total;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc == 4 ? argv[1] : "";
  if (way != "read" && way != "check") {
    std::fputs("usage: bench_bare_logs read|check FOLDER THREADS\n", stderr);
    return 2;
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[2])) {
    if (entry.is_regular_file() && entry.path().filename().string().find("tfevents") != std::string::npos) {
      files.push_back(entry.path().string());
    }
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::vector<char> buffer(block);
    for (std::size_t file = next++; file < files.size(); file = next++) {
      read_file(files[file], way == "check", buffer);
    }
  };
  std::vector<std::thread> threads;
  const auto wanted = std::min<std::size_t>(std::strtoul(argv[3], nullptr, 10), files.size());
  for (std::size_t i = 1; i < wanted; ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("%zu files, %llu bytes, %llu records\n", files.size(), static_cast<unsigned long long>(bytes_read),
              static_cast<unsigned long long>(records));
  return 0;
}
