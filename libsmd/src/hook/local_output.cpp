// SPDX-License-Identifier: Apache-2.0
#include "hook/output.hpp"
#include "storage/descriptor.hpp"
#include "storage/system_problem.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace smd::detail::hook {
namespace {

using storage::Descriptor;
using storage::uninterrupted;

constexpr mode_t folder_mode = 0777;  // The user's mask takes from these.
constexpr mode_t file_mode = 0666;

Problem write_problem(int error, std::string file) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return {ProblemKind::io, std::move(file), {}, "cannot be written: no space is left there; free some"};
    case EFBIG:
      return {ProblemKind::io, std::move(file), {}, "cannot be written: larger than files may be here; see ulimit -f"};
    case EROFS:
      return {ProblemKind::access_denied, std::move(file), {}, "cannot be written: the file system is read-only"};
    case EISDIR:
    case ENOTEMPTY:
    case EEXIST:
      return {ProblemKind::io, std::move(file), {}, "cannot be written: a directory is in its place"};
    case ENOTDIR:
      return {ProblemKind::io, std::move(file), {}, "cannot be written: a part of the path is not a directory"};
    case ENOENT:
      return {ProblemKind::not_found, std::move(file), {}, "cannot be written: its folder is gone"};
    default:
      break;
  }
  Problem problem = storage::system_problem(error, std::move(file));
  if (problem.text.starts_with("cannot be read: ")) {
    problem.text.replace(0, 16, "cannot be written: ");
  }
  if (problem.kind == ProblemKind::damaged) {
    problem.kind = ProblemKind::io;
  }
  return problem;
}

class LocalOutput final : public Output {
 public:
  LocalOutput(std::string path, Descriptor root) : path_(std::move(path)), root_(std::move(root)) {}

  Outcome<int> create(const std::string& name) override {
    // Nearly always the folder is there: it is made only where opening fails.
    for (int attempt = 0;; ++attempt) {
      const int file = uninterrupted(
          [&] { return ::openat(root_.get(), name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, file_mode); });
      if (file >= 0) {
        return file;
      }
      if (errno != ENOENT || attempt > 0) {
        return write_problem(errno, full(name));
      }
      if (Status made = make_folders(name); !made) {
        return std::move(made.problem());
      }
    }
  }

  Status write(int file, std::span<const std::byte> bytes, const std::string& name) override {
    while (!bytes.empty()) {
      const ssize_t written = uninterrupted([&] { return ::write(file, bytes.data(), bytes.size()); });
      if (written < 0) {
        return write_problem(errno, full(name));
      }
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return ok();
  }

  Status sync(int file, const std::string& name) override {
    return uninterrupted([&] { return ::fsync(file); }) == 0 ? ok() : Status(write_problem(errno, full(name)));
  }

  Status close(int file, const std::string& name) override {
    // Not repeated after EINTR: the number is free by then.
    return ::close(file) == 0 || errno == EINTR ? ok() : Status(write_problem(errno, full(name)));
  }

  Status rename(const std::string& from, const std::string& to) override {
    return ::renameat(root_.get(), from.c_str(), root_.get(), to.c_str()) == 0 ? ok()
                                                                               : Status(write_problem(errno, full(to)));
  }

  Status sync_folder(const std::string& name) override {
    const auto slash = name.rfind('/');
    const std::string folder = slash == name.npos ? "." : name.substr(0, slash);
    const Descriptor opened(
        uninterrupted([&] { return ::openat(root_.get(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!opened || uninterrupted([&] { return ::fsync(opened.get()); }) != 0) {
      return write_problem(errno, full(folder));
    }
    return ok();
  }

  void remove(const std::string& name) noexcept override { ::unlinkat(root_.get(), name.c_str(), 0); }

  [[nodiscard]] bool exists(const std::string& name) noexcept override {
    return ::faccessat(root_.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  }

  [[nodiscard]] const std::string& root() const noexcept override { return path_; }

 private:
  /// Messages name the file so that it can be found from where the user stands.
  [[nodiscard]] std::string full(const std::string& name) const { return path_ + "/" + name; }

  /// The folders above a file. Mostly only the last is missing: it is tried first.
  Status make_folders(const std::string& name) {
    const auto slash = name.rfind('/');
    if (slash == name.npos) {
      return ok();
    }
    const std::string folder = name.substr(0, slash);
    for (int attempt = 0;; ++attempt) {
      if (::mkdirat(root_.get(), folder.c_str(), folder_mode) == 0 || errno == EEXIST) {
        return ok();
      }
      if (errno != ENOENT || attempt > 0) {
        return write_problem(errno, full(folder));
      }
      if (Status made = make_folders(folder); !made) {
        return made;
      }
    }
  }

  std::string path_;
  Descriptor root_;
};

}  // namespace

Outcome<std::unique_ptr<Output>> open_local_output(const std::string& path) {
  for (auto slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), folder_mode) != 0 && errno != EEXIST) {
      return write_problem(errno, folder);
    }
    if (slash == path.npos) {
      break;
    }
  }
  Descriptor root(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!root) {
    return write_problem(errno, path);
  }
  return std::unique_ptr<Output>(std::make_unique<LocalOutput>(path, std::move(root)));
}

}  // namespace smd::detail::hook
