// SPDX-License-Identifier: Apache-2.0
#include "storage/local_storage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "storage/system_problem.hpp"

namespace smd::detail::storage {
namespace {

/// Returns why a mode is not that of a regular file; empty if it is.
std::string_view why_not_a_file(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return {};
    case S_IFDIR:
      return "is a directory, not a file";
    case S_IFIFO:
      return "is a FIFO, not a regular file";
    case S_IFSOCK:
      return "is a socket, not a regular file";
    default:
      return "is a device, not a regular file";
  }
}

/// Reads until `into` is full or the file ends. Returns the number of bytes, or -1 with `errno`.
ssize_t read_fully(int fd, std::uint64_t offset, std::span<std::byte> into) noexcept {
  constexpr auto last = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  std::size_t done = 0;
  const std::size_t most =
      offset >= last ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), last - offset));
  while (done < most) {
    const ssize_t n =
        uninterrupted([&] { return ::pread(fd, into.data() + done, most - done, static_cast<off_t>(offset + done)); });
    if (n <= 0) {
      if (n < 0) {
        return -1;
      }
      break;
    }
    done += static_cast<std::size_t>(n);
  }
  return static_cast<ssize_t>(done);
}

class LocalFile final : public File {
 public:
  LocalFile(Descriptor fd, std::uint64_t size, std::string name)
      : fd_(std::move(fd)), size_(size), name_(std::move(name)) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }

  Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    const ssize_t n = read_fully(fd_.get(), offset, into);
    if (n < 0) {
      return system_problem(errno, name_);
    }
    return static_cast<std::size_t>(n);
  }

 private:
  Descriptor fd_;
  std::uint64_t size_;
  std::string name_;
};

}  // namespace

Outcome<std::unique_ptr<File>> open_local_file(const Anchor& root, std::string_view name) {
  std::string_view refused = name.empty() ? "the name is empty" : refuse_path(name);
  if (!refused.empty()) {
    return Problem{ProblemKind::damaged, std::string(name), {}, std::string(refused)};
  }
  // O_NONBLOCK: opening a FIFO without a writer must not block. It has no effect on regular files.
  Descriptor fd = open_beneath(root.fd.get(), root.resolve, name, O_RDONLY | O_NONBLOCK);
  struct stat status;
  if (!fd || uninterrupted([&] { return ::fstat(fd.get(), &status); }) != 0) {
    return system_problem(errno, std::string(name));
  }
  if (refused = why_not_a_file(status.st_mode); !refused.empty()) {
    return Problem{ProblemKind::damaged, std::string(name), {}, std::string(refused)};
  }
  return std::unique_ptr<File>(
      std::make_unique<LocalFile>(std::move(fd), static_cast<std::uint64_t>(status.st_size), std::string(name)));
}

bool read_local_once(const Anchor& root, std::string_view name, std::uint64_t offset, std::span<std::byte> into) {
  if (name.empty() || !refuse_path(name).empty()) {
    return false;
  }
  // Reading a directory or a FIFO at an offset fails; a device yields bytes that are no valid record.
  const Descriptor fd = open_beneath(root.fd.get(), root.resolve, name, O_RDONLY | O_NONBLOCK);
  return fd && read_fully(fd.get(), offset, into) == static_cast<ssize_t>(into.size());
}

}  // namespace smd::detail::storage
