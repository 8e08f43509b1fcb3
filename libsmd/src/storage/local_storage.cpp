// SPDX-License-Identifier: Apache-2.0
#include "storage/local_storage.hpp"

#include "base/parallel.hpp"
#include "storage/local_watch.hpp"
#include "storage/system_problem.hpp"

#include <smd/limits.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace smd::detail::storage {

namespace {

// Not Boost's: that library would have to be loaded at each start of a command.
namespace fs = std::filesystem;

/// Returns whether `inner` is `outer` or is in it. Precondition: both are without links.
bool lies_in(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

Outcome<std::shared_ptr<const Anchor>> open_anchor(const std::string& path, std::optional<Resolve> resolve) {
  if (path.find('\0') != path.npos) {
    return Problem{ProblemKind::not_found, {}, {}, "a path cannot hold a NUL byte"};
  }
  const int fd = uninterrupted([&] { return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) {
    Problem problem = system_problem(errno, {});
    if (errno == ENOTDIR) {  // A mistyped path, not a damaged trial.
      problem.kind = ProblemKind::not_found;
      problem.text = "is not a directory; name the directory of the trial";
    } else if (errno == ENAMETOOLONG) {  // no such path can exist
      problem.kind = ProblemKind::not_found;
    }
    return problem;
  }
  auto anchor = std::make_shared<Anchor>();
  anchor->fd = Descriptor(fd);
  anchor->resolve = resolve ? *resolve : best_resolve(fd);
  return std::shared_ptr<const Anchor>(std::move(anchor));
}

/// Returns the kind of an entry that cannot be examined. If the entry is at fault, it counts as a file, so that reading
/// it reports the problem. Only a problem of kind io ends the listing.
Outcome<EntryKind> kind_unknown(int error, std::string path) {
  Problem problem = system_problem(error, std::move(path));
  if (problem.kind == ProblemKind::io) {
    return problem;
  }
  return EntryKind::file;
}

/// Returns the kind of a link's target. A link to a folder is `other`, except where links may lead anywhere.
Outcome<EntryKind> kind_of_link(const Anchor& root, std::string path) {
  const Descriptor fd = open_beneath(root.fd.get(), root.resolve, path, O_PATH);
  struct stat status;
  if (!fd || uninterrupted([&] { return ::fstat(fd.get(), &status); }) != 0) {
    return kind_unknown(errno, std::move(path));
  }
  if (S_ISDIR(status.st_mode) && root.resolve == Resolve::anywhere) {
    return EntryKind::folder;
  }
  constexpr auto proc = 0x9FA0;  // linux/magic.h
  constexpr auto sys = 0x62656572;
  struct statfs system = {};
  const bool of_system = ::fstatfs(fd.get(), &system) == 0 && (system.f_type == proc || system.f_type == sys);
  return S_ISREG(status.st_mode) && !of_system ? EntryKind::file : EntryKind::other;
}

/// Returns the kind of an entry, or of its target if it is a link, and sets `link`.
Outcome<EntryKind> kind_of(const Anchor& root, std::string_view folder, int dir_fd, const dirent64& entry, bool& link) {
  const auto path = [&] { return folder.empty() ? entry.d_name : std::string(folder) + '/' + entry.d_name; };
  unsigned char type = entry.d_type;
  if (type == DT_UNKNOWN) {
    struct stat status;
    if (uninterrupted([&] { return ::fstatat(dir_fd, entry.d_name, &status, AT_SYMLINK_NOFOLLOW); }) != 0) {
      return kind_unknown(errno, path());
    }
    type = IFTODT(status.st_mode);
  }
  link = type == DT_LNK;
  switch (type) {
    case DT_REG:
      return EntryKind::file;
    case DT_DIR:
      return EntryKind::folder;
    case DT_LNK:
      return kind_of_link(root, path());
    default:
      return EntryKind::other;
  }
}

Outcome<Descriptor> open_to_list(const Anchor& root, std::string_view folder) {
  if (const auto refused = refuse_path(folder); !refused.empty()) {
    return Problem{ProblemKind::damaged, std::string(folder), {}, std::string(refused)};
  }
  Descriptor fd = open_beneath(root.fd.get(), root.resolve, folder, O_RDONLY | O_DIRECTORY);
  if (!fd) {
    return system_problem(errno, std::string(folder));
  }
  return fd;
}

/// Returns the content of a folder that was just opened. Not by `readdir`: that takes three more system calls and a
/// buffer from the heap.
Outcome<std::vector<DirEntry>> entries_of(const Anchor& root, std::string_view folder, int fd,
                                          std::size_t most = all_names) {
  std::vector<DirEntry> entries;
  alignas(dirent64) std::array<char, std::size_t{32} << 10> buffer;
  while (true) {
    const ssize_t bytes = uninterrupted([&] { return ::getdents64(fd, buffer.data(), buffer.size()); });
    if (bytes < 0 && errno != ENOENT) {  // ENOENT: the folder was removed, and so holds nothing more
      return system_problem(errno, std::string(folder));
    }
    if (bytes <= 0 || entries.size() > most) {
      return entries;
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(bytes);) {
      const auto& entry = *reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry.d_reclen;
      const std::string_view name(entry.d_name);
      if (name != "." && name != "..") {
        bool link = false;
        const auto kind = kind_of(root, folder, fd, entry, link);
        if (!kind) {
          return kind.problem();
        }
        entries.push_back({std::string(name), *kind, link});
      }
    }
  }
}

/// Returns true for local file systems that update a folder's times as POSIX requires. Others may do so late or never.
bool keeps_times(int fd) noexcept {
  constexpr std::array<std::uint32_t, 6> magics = {0xEF53,       // ext2, ext3, ext4
                                                   0x58465342,   // XFS
                                                   0x9123683E,   // Btrfs
                                                   0x01021994,   // tmpfs
                                                   0x2FC12FC1,   // ZFS
                                                   0xF2F52010};  // F2FS
  struct statfs status;
  return ::fstatfs(fd, &status) == 0 &&
         std::find(magics.begin(), magics.end(), static_cast<std::uint32_t>(status.f_type)) != magics.end();
}

std::uint64_t ticks(const timespec& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

FolderStamp stamp_from(const struct stat& status) noexcept {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino), ticks(status.st_mtim),
          ticks(status.st_ctim), static_cast<std::uint64_t>(status.st_nlink)};
}

std::chrono::system_clock::time_point time_written(const struct stat& status) noexcept {
  // Nanoseconds hold the years 1678 to 2261, and must hold how long ago that was.
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::int64_t latest = INT64_MAX / second - 1;
  const std::int64_t whole = std::clamp<std::int64_t>(status.st_mtim.tv_sec, -latest / 2, latest);
  return std::chrono::system_clock::time_point(std::chrono::nanoseconds(whole * second + status.st_mtim.tv_nsec));
}

constexpr unsigned shared_files = 3;  // One of the root, two of a watch.

/// Returns how many threads may read at once: one for each CPU, but not more than the limit of open files allows. Each
/// keeps a folder and a file open, the storage its root, and a watch two more.
unsigned most_readers() noexcept { return std::clamp(default_jobs(), 1U, (limits::open_files - shared_files) / 2); }

class LocalStorage final : public Storage {
 public:
  LocalStorage(std::shared_ptr<LocalRoot> root, bool inotify) : root_(std::move(root)), inotify_(inotify) {}

  Outcome<std::vector<DirEntry>> list(std::string_view folder) override { return list_local(*root_->anchor(), folder); }
  Outcome<std::vector<DirEntry>> list_some(std::string_view folder, std::size_t most) override {
    return list_local(*root_->anchor(), folder, most);
  }

  Outcome<ListedFolder> open_listed(std::string_view folder) override {
    const auto root = root_->anchor();
    auto fd = open_to_list(*root, folder);
    if (!fd) {
      return std::move(fd.problem());
    }
    ListedFolder listed;
    listed.stamp = stamp_of(fd->get());
    auto entries = entries_of(*root, folder, fd->get());
    if (!entries) {
      return std::move(entries.problem());
    }
    listed.entries = *std::move(entries);
    listed.folder = local_folder(root, *std::move(fd), folder);
    return listed;
  }

  /// One system call where possible: a follower of a long job takes the stamps of many folders at each step.
  std::optional<FolderStamp> stamp(std::string_view folder) override {
    if (!refuse_path(folder).empty()) {
      return std::nullopt;
    }
    const auto root = root_->anchor();
    struct stat status = {};
    // A link out of the root need not be refused here: a stamp reveals nothing of the folder, and listing it is
    // refused.
    const std::string path(folder);
    const bool seen = ::fstatat(root->fd.get(), path.c_str(), &status, AT_NO_AUTOMOUNT) == 0 &&
                      S_ISDIR(status.st_mode) && times_kept_on_.load(std::memory_order_relaxed) == status.st_dev;
    if (!seen) {
      const Descriptor fd = open_beneath(root->fd.get(), root->resolve, folder, O_PATH | O_DIRECTORY);
      return fd ? stamp_of(fd.get()) : std::nullopt;
    }
    return stamp_from(status);
  }

  std::optional<FolderIdentity> identity(std::string_view folder) override {
    const auto status = status_of(folder);
    if (!status || !S_ISDIR(status->st_mode)) {
      return std::nullopt;
    }
    return FolderIdentity{static_cast<std::uint64_t>(status->st_dev), static_cast<std::uint64_t>(status->st_ino)};
  }

  std::string_view off_limits(std::string_view folder) override {
    std::error_code error;
    const fs::path root = fs::canonical(root_->path(), error);
    const fs::path target = error ? fs::path() : fs::canonical(root / folder, error);
    if (error) {
      return {};  // listing it reports why
    }
    if (lies_in(root, target)) {
      return "symbolic link to a folder that it lies in, not followed";
    }
    constexpr std::array<const char*, 3> of_system = {"/proc", "/sys", "/dev"};
    const bool in_memory = lies_in(target, "/dev/shm");  // files like those on disk
    const bool leads_out = !in_memory && std::any_of(of_system.begin(), of_system.end(), [&](const char* system) {
      return lies_in(target, system) && !lies_in(root, system);
    });
    return leads_out ? "a folder of the system's /proc, /sys or /dev, not searched" : std::string_view();
  }

  std::optional<FileStamp> file_stamp(std::string_view name) override {
    const auto status = status_of(name);
    return status ? std::optional(file_stamp_from(*status)) : std::nullopt;
  }

  std::optional<std::chrono::system_clock::time_point> written_at(std::string_view name) override {
    const auto status = status_of(name);
    return status ? std::optional(time_written(*status)) : std::nullopt;
  }

  /// Ignores what is removed meanwhile. Does not follow links.
  Outcome<FileTotals> totals_below(std::string_view folder) override {
    const auto root = root_->anchor();
    FileTotals totals;
    std::vector<std::string> folders{std::string(folder)};
    while (!folders.empty()) {
      const std::string path = std::move(folders.back());
      folders.pop_back();
      const auto fd = open_to_list(*root, path);
      if (!fd && fd.problem().kind == ProblemKind::not_found) {
        continue;
      }
      const auto entries = fd ? entries_of(*root, path, fd->get()) : Outcome<std::vector<DirEntry>>(fd.problem());
      if (!entries) {
        return entries.problem();
      }
      for (const DirEntry& entry : *entries) {
        struct stat status;
        if (entry.kind == EntryKind::folder && !entry.link) {
          folders.push_back(path.empty() ? entry.name : path + '/' + entry.name);
        } else if (uninterrupted(
                       [&] { return ::fstatat(fd->get(), entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW); }) == 0 &&
                   S_ISREG(status.st_mode)) {
          totals.newest = std::max(totals.newest, std::optional(time_written(status)));
          totals.bytes += static_cast<std::uint64_t>(status.st_size);
        }
      }
    }
    return totals;
  }

  bool exists(std::string_view name) override {
    if (!refuse_path(name).empty()) {
      return false;
    }
    const auto anchor = root_->anchor();
    if (name.find('/') == name.npos && !name.empty()) {  // No descriptor needed: the result is right if none is left.
      struct stat status;
      const std::string text(name);
      if (::fstatat(anchor->fd.get(), text.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return false;
      }
      if (!S_ISLNK(status.st_mode)) {
        return true;
      }
    }
    return static_cast<bool>(open_beneath(anchor->fd.get(), anchor->resolve, name, O_PATH));
  }

  Outcome<std::unique_ptr<File>> open(std::string_view name) override {
    return open_local_file(*root_->anchor(), name);
  }

  bool read_once(std::string_view name, std::uint64_t offset, std::span<std::byte> into) override {
    return read_local_once(*root_->anchor(), name, offset, into);
  }

  Outcome<std::unique_ptr<Folder>> open_folder(std::string_view name) override {
    return open_local_folder(root_->anchor(), name);
  }

  std::unique_ptr<Watch> watch(std::chrono::milliseconds poll_interval, const WatchScope& scope) override {
    return watch_local(root_, inotify_, poll_interval, scope);
  }

  Status revisit() override { return root_->revisit(); }
  [[nodiscard]] std::uint64_t generation() const noexcept override { return root_->generation(); }

  [[nodiscard]] unsigned parallelism() const noexcept override { return most_readers(); }

  [[nodiscard]] const std::string& root() const noexcept override { return root_->path(); }

 private:
  /// Nullopt if the file does not exist.
  [[nodiscard]] std::optional<struct stat> status_of(std::string_view name) const {
    const auto root = root_->anchor();
    const Descriptor fd = open_beneath(root->fd.get(), root->resolve, name, O_PATH);
    struct stat status = {};
    return fd && ::fstat(fd.get(), &status) == 0 ? std::optional(status) : std::nullopt;
  }

  [[nodiscard]] std::optional<FolderStamp> stamp_of(int fd) {
    struct stat status = {};
    if (::fstat(fd, &status) != 0) {
      return std::nullopt;
    }
    if (times_kept_on_.load(std::memory_order_relaxed) != status.st_dev) {
      if (!keeps_times(fd)) {
        return std::nullopt;
      }
      times_kept_on_.store(status.st_dev, std::memory_order_relaxed);
    }
    return stamp_from(status);
  }

  std::shared_ptr<LocalRoot> root_;
  bool inotify_;
  // A device whose folders' times are reliable; 0 if none is known yet.
  std::atomic<std::uint64_t> times_kept_on_ = 0;
};

}  // namespace

FileStamp file_stamp_from(const struct stat& status) noexcept {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino), ticks(status.st_mtim),
          ticks(status.st_ctim), static_cast<std::uint64_t>(status.st_size)};
}

std::shared_ptr<const Anchor> LocalRoot::anchor() const {
  const std::lock_guard lock(mutex_);
  return anchor_;
}

bool LocalRoot::reopen_if_removed() {
  const auto old = anchor();
  struct stat status;
  if (::fstat(old->fd.get(), &status) == 0 && status.st_nlink > 0) {
    return false;
  }
  return static_cast<bool>(reopen());
}

Status LocalRoot::revisit() {
  const auto old = anchor();
  struct stat held = {};
  struct stat there = {};
  errno = 0;
  if (uninterrupted([&] { return ::stat(path_.c_str(), &there); }) != 0 || !S_ISDIR(there.st_mode)) {
    if (errno == ENOENT || errno == ENOTDIR || !S_ISDIR(there.st_mode)) {
      return Problem{ProblemKind::not_found, {}, {}, "was removed or moved away while it was followed"};
    }
    return system_problem(errno, {});
  }
  if (::fstat(old->fd.get(), &held) == 0 && held.st_nlink > 0 && held.st_dev == there.st_dev &&
      held.st_ino == there.st_ino) {
    return ok();
  }
  return reopen();
}

Status LocalRoot::reopen() {
  auto fresh = open_anchor(path_, anchor()->resolve);
  if (!fresh) {
    return std::move(fresh.problem());
  }
  const std::lock_guard lock(mutex_);
  anchor_ = *std::move(fresh);
  ++generation_;
  return ok();
}

Outcome<std::vector<DirEntry>> list_local(const Anchor& root, std::string_view folder, std::size_t most) {
  const auto fd = open_to_list(root, folder);
  return fd ? entries_of(root, folder, fd->get(), most) : Outcome<std::vector<DirEntry>>(fd.problem());
}

unsigned announcers() noexcept {
  constexpr unsigned enough = 4;  // More threads did not fill a cold cache sooner.
  return std::clamp((limits::open_files - shared_files) / most_readers() - 1, 1U, enough);
}

Outcome<std::unique_ptr<Storage>> open_local(const std::string& path, const LocalOptions& options) {
  auto anchor = open_anchor(path, options.resolve);
  if (!anchor) {
    return std::move(anchor.problem());
  }
  auto root = std::make_shared<LocalRoot>(path, *std::move(anchor));
  return std::unique_ptr<Storage>(std::make_unique<LocalStorage>(std::move(root), options.inotify));
}

Outcome<std::unique_ptr<Storage>> open_local(const std::string& path) { return open_local(path, LocalOptions{}); }

Outcome<std::unique_ptr<Storage>> open_local_with_links(const std::string& path) {
  // No watch reports that a file behind a link grows; polling finds it.
  return open_local(path, LocalOptions{.resolve = Resolve::anywhere});
}

}  // namespace smd::detail::storage
