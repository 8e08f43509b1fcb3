// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/parallel.hpp"
#include "storage/local_storage.hpp"
#include "storage/system_problem.hpp"

namespace smd::detail::storage {
namespace {

// Files of similar sizes use buffers of the same size. Small ones: the heap is tidied whenever 64 KiB of it are freed.
constexpr std::size_t least_buffer = std::size_t{4} << 10;
constexpr std::size_t most_rounded = std::size_t{64} << 10;

/// A leaf name with the NUL that the kernel requires, without an allocation for each file.
class LeafName {
 public:
  explicit LeafName(std::string_view name) noexcept {
    if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos || name.find('\0') != name.npos) {
      error_ = EINVAL;
    } else if (name.size() > NAME_MAX) {
      error_ = ENAMETOOLONG;
    } else {
      std::memcpy(text_.data(), name.data(), name.size());
      text_[name.size()] = '\0';
    }
  }
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] const char* c_str() const noexcept { return text_.data(); }

 private:
  std::array<char, NAME_MAX + 1> text_;
  int error_ = 0;
};

class LocalFolder final : public Folder {
 public:
  LocalFolder(std::shared_ptr<const Anchor> root, Descriptor fd, std::string name)
      : root_(std::move(root)), fd_(std::move(fd)), name_(std::move(name)) {}

  Outcome<std::span<const std::byte>> read_all(std::string_view name, Buffer& buffer, std::uint64_t most) override {
    const LeafName leaf(name);
    if (leaf.error() == EINVAL) {
      return Problem{ProblemKind::damaged, path_of(name), {}, "is not the name of a file in a directory"};
    }
    if (leaf.error() != 0) {
      return system_problem(leaf.error(), path_of(name));
    }
    const Descriptor fd = open(leaf, name);
    if (!fd) {
      return system_problem(errno, path_of(name));
    }
    struct stat status;
    if (uninterrupted([&] { return ::fstat(fd.get(), &status); }) != 0) {
      return system_problem(errno, path_of(name));
    }
    if (!S_ISREG(status.st_mode)) {
      return Problem{ProblemKind::damaged, path_of(name), {}, "is not a regular file"};
    }
    return read_open(fd.get(), static_cast<std::uint64_t>(status.st_size), name, buffer, most);
  }

  void announce(std::span<const std::string_view> names) override;

  [[nodiscard]] std::optional<FileStamp> stamp(std::string_view name) const override {
    const LeafName leaf(name);
    struct stat status = {};
    if (leaf.error() != 0 || ::fstatat(fd_.get(), leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return std::nullopt;
    }
    if (S_ISLNK(status.st_mode)) {
      const Descriptor target = open_beneath(root_->fd.get(), root_->resolve, path_of(name), O_PATH);
      if (!target || ::fstat(target.get(), &status) != 0) {
        return std::nullopt;
      }
    }
    return file_stamp_from(status);
  }

 private:
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return name_.empty() ? std::string(name) : name_ + '/' + std::string(name);
  }

  [[nodiscard]] Descriptor open(const LeafName& leaf, std::string_view name) const {
    constexpr int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    const int fd = uninterrupted([&] { return ::openat(fd_.get(), leaf.c_str(), flags | O_NOFOLLOW); });
    if (fd < 0 && errno == ELOOP) {  // A link: good if it stays beneath the root.
      return open_beneath(root_->fd.get(), root_->resolve, path_of(name), flags);
    }
    return Descriptor(fd);
  }

  /// `expected` is only a hint: the file may grow or shrink meanwhile.
  [[nodiscard]] Outcome<std::span<const std::byte>> read_open(int fd, std::uint64_t expected, std::string_view name,
                                                              Buffer& buffer, std::uint64_t most) const {
    if (expected > most) {
      return too_long(path_of(name), most);
    }
    const auto whole = static_cast<std::size_t>(expected) + 1;
    std::size_t room =
        std::max({whole, buffer.capacity(), std::clamp(std::bit_ceil(whole), least_buffer, most_rounded)});
    std::size_t done = 0;
    while (true) {
      std::byte* data = buffer.reserve(room);
      if (data == nullptr) {
        return system_problem(ENOMEM, path_of(name));
      }
      const ssize_t n = uninterrupted([&] { return ::pread(fd, data + done, room - done, static_cast<off_t>(done)); });
      if (n < 0) {
        return system_problem(errno, path_of(name));
      }
      done += static_cast<std::size_t>(n);
      if (done > most) {
        return too_long(path_of(name), most);
      }
      if (n == 0 || (done == expected && done < room)) {
        return buffer.first(done);
      }
      if (done == room) {  // The file grew. Growing the buffer discards its content.
        room *= 2;
        done = 0;
      }
    }
  }

  std::shared_ptr<const Anchor> root_;
  Descriptor fd_;
  std::string name_;
};

/// Opening a file whose inode is not in memory waits for the disk, and reading it waits again. Requesting the data of
/// many files before reading the first keeps the disk busy with all of them.
void LocalFolder::announce(std::span<const std::string_view> names) {
  const auto open_leaf = [this](std::string_view name) {
    const LeafName leaf(name);
    return leaf.error() != 0 ? Descriptor()
                             : Descriptor(::openat(fd_.get(), leaf.c_str(),
                                                   O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
  };
  const auto is_cold = [&](std::string_view name) {
    const Descriptor fd = open_leaf(name);
    std::byte one;
    iovec vector{&one, 1};
    return fd && ::preadv2(fd.get(), &vector, 1, 0, RWF_NOWAIT) < 0 && errno == EAGAIN;
  };
  constexpr std::size_t few = 4;  // The check takes as long as reading this many files that are in memory.
  if (names.size() < few || !(is_cold(names.front()) || is_cold(names[names.size() / 2]) || is_cold(names.back()))) {
    return;
  }
  // The kernel's read-ahead takes over from here. Each open may wait for an inode, so several wait at once.
  constexpr std::size_t grain = 8;
  parallel_for(announcers(), names.size(), grain, [&](std::size_t begin, std::size_t end, unsigned) {
    for (const auto name : names.subspan(begin, end - begin)) {
      if (const Descriptor fd = open_leaf(name)) {
        ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_WILLNEED);
      }
    }
  });
}

}  // namespace

Outcome<std::unique_ptr<Folder>> open_local_folder(std::shared_ptr<const Anchor> root, std::string_view name) {
  if (const auto refused = refuse_path(name); !refused.empty()) {
    return Problem{ProblemKind::damaged, std::string(name), {}, std::string(refused)};
  }
  Descriptor fd = open_beneath(root->fd.get(), root->resolve, name, O_PATH | O_DIRECTORY);
  if (!fd) {
    return system_problem(errno, std::string(name));
  }
  return local_folder(std::move(root), std::move(fd), name);
}

std::unique_ptr<Folder> local_folder(std::shared_ptr<const Anchor> root, Descriptor fd, std::string_view name) {
  while (name.ends_with('/')) {
    name.remove_suffix(1);
  }
  return std::make_unique<LocalFolder>(std::move(root), std::move(fd), std::string(name));
}

}  // namespace smd::detail::storage
