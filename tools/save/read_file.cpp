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

FileContent read_all(int descriptor, const std::string& where) {
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
    const ssize_t got = read(descriptor, memory.get() + size, room - size);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      fail(where, errno);
    }
    if (got == 0) {
      return {{memory.get(), size}, memory};
    }
    size += static_cast<std::size_t>(got);
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
