// SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include <smd/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace smd::tool::save {

namespace {

[[noreturn]] void fail(const std::string& where, int error) {
  const ProblemKind kind = error == ENOENT                     ? ProblemKind::not_found
                           : error == EACCES || error == EPERM ? ProblemKind::access_denied
                                                               : ProblemKind::io;
  throw ReadError({kind, where, {}, "cannot be read: " + std::generic_category().message(error)});
}

std::string read_all(int descriptor, const std::string& where) {
  std::string content;
  std::string block(std::size_t{1} << 18, '\0');
  for (;;) {
    const ssize_t got = read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      fail(where, errno);
    }
    if (got == 0) {
      return content;
    }
    content.append(block, 0, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string read_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    fail(path, errno);
  }
  try {
    std::string content = read_all(descriptor, path);
    close(descriptor);
    return content;
  } catch (...) {
    close(descriptor);
    throw;
  }
}

std::string read_standard_input() { return read_all(STDIN_FILENO, "standard input"); }

}  // namespace smd::tool::save
