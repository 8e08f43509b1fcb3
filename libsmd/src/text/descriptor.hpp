// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace smd::detail {

/// Owns one file descriptor; -1 when it has none.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);  // Not repeated after EINTR: Linux has freed the number by then.
    }
  }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Returns the descriptor, which the caller then owns.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// Repeats a system call for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

/// Reads until `into` is full or the file ends. Returns the number of bytes, or -1 with `errno`.
inline ssize_t read_fully(int fd, std::uint64_t offset, std::span<std::byte> into) noexcept {
  constexpr auto last = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  std::size_t done = 0;
  const std::size_t most =
      offset >= last ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), last - offset));
  while (done < most) {
    const ssize_t n =
        uninterrupted([&] { return ::pread(fd, into.data() + done, most - done, static_cast<off_t>(offset + done)); });
    if (n < 0) {
      return -1;
    }
    if (n == 0) {
      break;
    }
    done += static_cast<std::size_t>(n);
  }
  return static_cast<ssize_t>(done);
}

/// Reads what is left of a file, but at most a block more than `most` bytes. Nullopt with `errno` if that fails.
[[nodiscard]] inline std::optional<std::string> read_to_end(int fd, std::uint64_t most) {
  constexpr std::size_t block = std::size_t{16} << 10;
  std::string text;
  ssize_t got = 1;
  while (got != 0 && text.size() <= most) {
    const std::size_t end = text.size();
    text.resize(end + block);
    got = uninterrupted([&] { return ::read(fd, text.data() + end, block); });
    if (got < 0) {
      return std::nullopt;
    }
    text.resize(end + static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace smd::detail
