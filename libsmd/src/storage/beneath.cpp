// SPDX-License-Identifier: Apache-2.0
#include "storage/beneath.hpp"

#include "text/path.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

namespace smd::detail::storage {
namespace {

/// openat2 refuses flags that have no meaning together with O_PATH.
constexpr int complete(int flags) noexcept { return flags | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NOCTTY); }

constexpr int most_links = 40;     // The kernel's limit.
constexpr int most_attempts = 64;  // openat2 fails with EAGAIN when a rename interferes.

Descriptor open_at(int folder, const char* name, int flags) noexcept {
  return Descriptor(uninterrupted([=] { return ::openat(folder, name, complete(flags)); }));
}

Descriptor open_by_kernel(int root, std::string_view path, int flags) noexcept {
  std::array<char, PATH_MAX> text;  // The kernel's limit, NUL included. On the stack: files must not cost allocations.
  if (path.size() >= text.size()) {
    errno = ENAMETOOLONG;
    return {};
  }
  std::memcpy(text.data(), path.data(), path.size());
  text[path.size()] = '\0';
  open_how how{};
  how.flags = static_cast<unsigned>(complete(flags));
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  int attempts = 0;
  do {
    fd = ::syscall(SYS_openat2, root, text.data(), &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++attempts < most_attempts)));
  return Descriptor(static_cast<int>(fd));
}

/// Walks a path from the root. Keeps its position as names, none of them a link, so that `..` in a link's target never
/// asks the kernel for a parent, which could be anywhere after a rename.
class Walk {
 public:
  explicit Walk(int root) : root_(root) {}

  Descriptor open(std::string_view path, int flags) {
    push(path);
    while (!left_.empty()) {
      const std::string part = std::move(left_.back());
      left_.pop_back();
      if (part == "..") {
        if (!up()) {
          return {};
        }
        continue;
      }
      if (const int link = follow(part); link != 0) {
        if (link < 0) {
          return {};
        }
        continue;
      }
      if (left_.empty()) {
        return open_at(here(), part.c_str(), flags | O_NOFOLLOW | (folder_wanted_ ? O_DIRECTORY : 0));
      }
      if (!down(part)) {
        return {};
      }
    }
    return open_at(here(), ".", flags);  // The root, or a link to a folder by way of `..`.
  }

 private:
  [[nodiscard]] int here() const noexcept { return here_ ? here_.get() : root_; }

  /// Inserts the parts of `path` before those that are left to walk.
  void push(std::string_view path) {
    if (left_.empty() && path.ends_with('/')) {
      folder_wanted_ = true;
    }
    while (!path.empty()) {
      const std::string_view part = text::leaf_of(path);
      if (!part.empty() && part != ".") {
        left_.emplace_back(part);
      }
      path = text::folder_of(path);
    }
  }

  bool down(const std::string& part) {
    Descriptor next = open_at(here(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!next) {
      return false;
    }
    here_ = std::move(next);
    passed_.push_back(part);
    return true;
  }

  bool up() {
    if (passed_.empty()) {
      errno = EXDEV;
      return false;
    }
    auto again = std::move(passed_);
    again.pop_back();
    passed_.clear();
    here_ = Descriptor();
    for (const auto& part : again) {
      if (!down(part)) {
        return false;
      }
    }
    return true;
  }

  /// Returns 0 if `part` is not a link; 1 if its target is now next; -1 with `errno` if it must not be followed.
  int follow(const std::string& part) {
    std::array<char, PATH_MAX> target;
    const ssize_t length =
        uninterrupted([&] { return ::readlinkat(here(), part.c_str(), target.data(), target.size()); });
    if (length < 0) {
      return errno == EINVAL ? 0 : -1;
    }
    if (++links_ > most_links) {
      errno = ELOOP;
      return -1;
    }
    if (length == 0 || target[0] == '/') {
      errno = length == 0 ? ENOENT : EXDEV;
      return -1;
    }
    push({target.data(), static_cast<std::size_t>(length)});
    return 1;
  }

  int root_;
  Descriptor here_;                  // None: at the root.
  std::vector<std::string> passed_;  // From the root to here.
  std::vector<std::string> left_;    // Next one last.
  int links_ = 0;
  bool folder_wanted_ = false;
};

}  // namespace

Resolve best_resolve(int root) noexcept {
  static std::atomic<bool> works = false;  // once it has worked, it works for every directory
  if (!works.load(std::memory_order_relaxed) && open_by_kernel(root, ".", O_PATH | O_DIRECTORY)) {
    works.store(true, std::memory_order_relaxed);
  }
  return works.load(std::memory_order_relaxed) ? Resolve::kernel : Resolve::by_component;
}

Descriptor open_beneath(int root, Resolve resolve, std::string_view path, int flags) {
  if (resolve == Resolve::kernel) {
    return open_by_kernel(root, path.empty() ? "." : path, flags);
  }
  if (resolve == Resolve::anywhere) {
    return open_at(root, path.empty() ? "." : std::string(path).c_str(), flags);
  }
  return Walk(root).open(path, flags);
}

Descriptor make_folder_beneath(int root, Resolve resolve, std::string_view path, mode_t mode) {
  Descriptor there = open_beneath(root, resolve, path, O_PATH | O_DIRECTORY);
  if (there || errno != ENOENT || path.empty()) {
    return there;
  }
  const std::string leaf(text::leaf_of(path));
  const Descriptor above = make_folder_beneath(root, resolve, text::folder_of(path), mode);
  if (!above || (::mkdirat(above.get(), leaf.c_str(), mode) != 0 && errno != EEXIST)) {
    return {};
  }
  return open_beneath(root, resolve, path, O_PATH | O_DIRECTORY);
}

std::string_view refuse_path(std::string_view path) noexcept {
  if (path.starts_with('/')) {
    return "is an absolute path, not one within the trial's directory";
  }
  if (path.find('\0') != path.npos) {
    return "has a NUL byte in its name";
  }
  for (; !path.empty(); path = text::folder_of(path)) {
    if (text::leaf_of(path) == "..") {
      return "has a `..` part, which leads out of the trial's directory";
    }
  }
  return {};
}

}  // namespace smd::detail::storage
