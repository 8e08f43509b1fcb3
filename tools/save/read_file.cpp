// SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include <smd/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace smd::tool::save {

namespace {

[[noreturn]] void fail(const std::string& where, int error) {
  const ProblemKind kind = error == ENOENT                     ? ProblemKind::not_found
                           : error == EACCES || error == EPERM ? ProblemKind::access_denied
                                                               : ProblemKind::io;
  throw ReadError({kind, where, {}, "cannot be read: " + std::generic_category().message(error)});
}

constexpr std::size_t first_block = std::size_t{1} << 18;

/// The bytes left in a regular file by its current size, and one more, so that its end is seen; otherwise one block.
std::size_t expected_size(int descriptor) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return first_block;
  }
  const off_t at = std::max<off_t>(lseek(descriptor, 0, SEEK_CUR), 0);
  return static_cast<std::size_t>(std::max<off_t>(status.st_size - at, 0)) + 1;
}

/// Memory that is not touched before it is read into. Touching its pages one by one would take most of the time for a
/// large array, so large pages are requested.
std::shared_ptr<char[]> unfilled(std::size_t size) {
  constexpr std::size_t large_page = std::size_t{2} << 20;
  std::shared_ptr<char[]> memory(new char[size]);
  void* begin = memory.get();
  std::size_t room = size;
  if (std::align(large_page, large_page, begin, room) != nullptr) {
    (void)madvise(begin, room, MADV_HUGEPAGE);
  }
  return memory;
}

/// How much of a file to read whose beginning this is: a byte beyond its end shows that it is too long. Nothing while
/// that cannot be told.
std::optional<std::uint64_t> bytes_to_read(std::string_view beginning, const std::string& where) {
  constexpr std::string_view archive = "PK";
  if (beginning.empty() || archive.starts_with(beginning)) {
    return std::nullopt;
  }
  if (beginning.starts_with(archive)) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const std::optional<std::uint64_t> bytes = npy_bytes(beginning, where);
  return bytes ? std::optional(*bytes + 1) : std::nullopt;
}

FileContent read_all(int descriptor, const std::string& where) {
  std::optional<std::uint64_t> most;
  std::size_t room = expected_size(descriptor);
  std::shared_ptr<char[]> memory = unfilled(room);
  std::size_t size = 0;
  for (;;) {
    if (size == room) {
      room = std::max(2 * room, first_block);
      std::shared_ptr<char[]> larger = unfilled(room);
      std::memcpy(larger.get(), memory.get(), size);
      memory = std::move(larger);
    }
    const std::size_t end = std::min<std::uint64_t>(room, most.value_or(size + first_block));
    const ssize_t got = read(descriptor, memory.get() + size, end - size);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      fail(where, errno);
    }
    size += static_cast<std::size_t>(got);
    if (!most) {
      most = bytes_to_read({memory.get(), size}, where);
    }
    if (most && size >= *most) {
      throw ReadError({ProblemKind::damaged,
                       where,
                       {},
                       "is longer than the " + std::to_string(*most - 1) + " bytes that its header asks for"});
    }
    if (got == 0) {
      return {{memory.get(), size}, memory};
    }
  }
}

}  // namespace

FileContent read_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    fail(path, errno);
  }
  try {
    FileContent content = read_all(descriptor, path);
    close(descriptor);
    return content;
  } catch (...) {
    close(descriptor);
    throw;
  }
}

FileContent read_standard_input() { return read_all(STDIN_FILENO, "standard input"); }

}  // namespace smd::tool::save
