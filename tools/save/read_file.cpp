// SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include "text/descriptor.hpp"
#include "text/system_problem.hpp"

#include <smd/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>

namespace smd::tool::save {

namespace {

using detail::Descriptor;

[[noreturn]] void fail(const std::string& where) { throw ReadError(detail::system_problem(errno, where)); }

Descriptor open_file(const std::string& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    fail(path);
  }
  return file;
}

std::size_t read_at(const Descriptor& file, const std::string& path, std::uint64_t offset, std::span<std::byte> into) {
  const ssize_t got = detail::read_fully(file.get(), offset, into);
  if (got < 0) {
    fail(path);
  }
  return static_cast<std::size_t>(got);
}

/// Smaller files are read at once.
constexpr off_t worth_leaving = off_t{1} << 20;
constexpr std::size_t most_usual_header = std::size_t{64} << 10;  // NumPy's own are shorter
constexpr std::string_view archive = "PK";

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

/// How much to read of a file with this beginning: one byte beyond its end, to see whether it is too long. Nullopt if
/// that is not known yet.
std::optional<std::uint64_t> bytes_to_read(std::string_view beginning, const std::string& where) {
  if (beginning.empty() || archive.starts_with(beginning)) {
    return std::nullopt;
  }
  if (beginning.starts_with(archive)) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const std::optional<NpyHeader> header = npy_header(beginning, where);
  return header ? std::optional(header->file_bytes + 1) : std::nullopt;
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
    const ssize_t got = detail::uninterrupted([&] { return read(descriptor, memory.get() + size, end - size); });
    if (got < 0) {
      fail(where);
    }
    size += static_cast<std::size_t>(got);
    if (!most) {
      most = bytes_to_read({memory.get(), size}, where);
    }
    refuse_file_if(most && size >= *most, where,
                   "is longer than the " + std::to_string(most.value_or(1) - 1) + " bytes that its header asks for");
    if (got == 0) {
      return {{memory.get(), size}, memory};
    }
  }
}

}  // namespace

FileContent read_file(const std::string& path) { return read_all(open_file(path).get(), path); }

FileContent read_standard_input() { return read_all(STDIN_FILENO, "standard input"); }

std::optional<StoredArray> stored_array(const std::string& path) {
  // Checked before it is opened: the writer of a pipe would see its reader go away.
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < worth_leaving) {
    return std::nullopt;
  }
  const auto file = std::make_shared<const Descriptor>(open_file(path));
  std::string beginning(most_usual_header, '\0');
  beginning.resize(read_at(*file, path, 0, std::as_writable_bytes(std::span(beginning))));
  if (beginning.starts_with(archive)) {
    return std::nullopt;
  }
  std::optional<NpyHeader> header = npy_header(beginning, path);
  if (!header || !header->as_saved || header->file_bytes != static_cast<std::uint64_t>(status.st_size)) {
    return std::nullopt;
  }
  return StoredArray{
      header->dtype, std::move(header->shape),
      [file, path, start = header->header_bytes](std::uint64_t offset, std::span<std::byte> into) {
        const std::size_t got = read_at(*file, path, start + offset, into);
        if (got < into.size()) {
          throw ReadError({ProblemKind::damaged, path, start + offset + got, "became shorter while it was read"});
        }
      }};
}

}  // namespace smd::tool::save
