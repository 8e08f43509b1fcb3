// SPDX-License-Identifier: Apache-2.0
#include "storage/local_storage.hpp"

#include "base/parallel.hpp"
#include "text/limits.hpp"
#include "text/mapped.hpp"
#include "text/path.hpp"
#include "text/system_problem.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <climits>
#include <filesystem>
#include <set>
#include <system_error>

namespace smd::detail::storage {

namespace {

// Not Boost's: that library would have to be loaded at each start of a command.
namespace fs = std::filesystem;

/// Returns the problem of a name in a folder that could not be opened. `file`: as the caller knows it.
Problem why_not_opened(int error, std::string file, int folder, std::string_view name) {
  Problem problem = system_problem(error, std::move(file));
  struct stat status;
  if (error == ENOENT && ::fstatat(folder, std::string(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(status.st_mode)) {
    problem.text = "is a symbolic link that leads nowhere: the file is absent";
    problem.dangling = true;
  }
  return problem;
}

Outcome<std::shared_ptr<const Anchor>> open_anchor(const std::string& path, std::optional<Resolve> resolve) {
  if (path.find('\0') != path.npos) {
    return make_problem(ProblemKind::not_found, "a path cannot hold a NUL byte");
  }
  const int fd = uninterrupted([&] { return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) {
    const int error = errno;
    Problem problem = why_not_opened(error, {}, AT_FDCWD, path);
    if (error == ENOTDIR) {  // A mistyped path, not a damaged trial.
      problem.kind = ProblemKind::not_found;
      problem.text = "is not a directory; name the directory of the trial";
    } else if (error == ENAMETOOLONG) {  // no such path can exist
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
  return problem.kind == ProblemKind::io ? Outcome<EntryKind>(std::move(problem)) : EntryKind::file;
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
  const auto path = [&] { return text::path_in(folder, entry.d_name); };
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

Outcome<Descriptor> open_directory(const Anchor& root, std::string_view folder, int access = O_RDONLY) {
  if (const auto refused = refuse_path(folder); !refused.empty()) {
    return Problem{ProblemKind::damaged, std::string(folder), {}, std::string(refused)};
  }
  Descriptor fd = open_beneath(root.fd.get(), root.resolve, folder, access | O_DIRECTORY);
  return fd ? Outcome<Descriptor>(std::move(fd)) : why_not_opened(errno, std::string(folder), root.fd.get(), folder);
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
        entries.push_back({std::string(name), *kind, link, entry.d_ino});
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
  return ::fstatfs(fd, &status) == 0 && contains(magics, static_cast<std::uint32_t>(status.f_type));
}

std::uint64_t ticks(const timespec& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

/// `last`: what the stamp has besides, the links of a folder or the size of a file.
FileStamp stamp_from(const struct stat& status, auto last) noexcept {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino), ticks(status.st_mtim),
          ticks(status.st_ctim), static_cast<std::uint64_t>(last)};
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

/// Returns how many threads each that reads may use to announce files, with one file open each.
unsigned announcers() noexcept {
  constexpr unsigned enough = 4;  // More threads did not fill a cold cache sooner.
  return std::clamp((limits::open_files - shared_files) / most_readers() - 1, 1U, enough);
}

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

class LocalFile final : public File {
 public:
  LocalFile(Descriptor fd, std::uint64_t size, std::string name)
      : fd_(std::move(fd)), size_(size), name_(std::move(name)) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }

  Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    const ssize_t n = read_fully(fd_.get(), offset, into);
    return n < 0 ? Outcome<std::size_t>(system_problem(errno, name_)) : static_cast<std::size_t>(n);
  }
  [[nodiscard]] bool ends_in_hole() const noexcept override {
    return size_ > 0 && ::lseek(fd_.get(), static_cast<off_t>(size_ - 1), SEEK_DATA) < 0 && errno == ENXIO;
  }
  [[nodiscard]] std::optional<FileStamp> stamp() const override {
    struct stat status = {};
    if (uninterrupted([&] { return ::fstat(fd_.get(), &status); }) != 0) {
      return std::nullopt;
    }
    status.st_ctim = {};  // chmod and each change of a name alter it, and no byte
    return stamp_from(status, status.st_size);
  }

 private:
  Descriptor fd_;
  std::uint64_t size_;
  std::string name_;
};

// Files of similar sizes use buffers of the same size. Small ones: the heap is tidied whenever 64 KiB of it are freed.
constexpr std::size_t least_buffer = std::size_t{4} << 10;
constexpr std::size_t most_rounded = std::size_t{64} << 10;

/// Returns why a name cannot be that of a file in a folder, an `errno`; 0: it can.
int refuse_leaf(std::string_view name) noexcept {
  if (!is_plain_name(name)) {
    return EINVAL;
  }
  return name.size() > NAME_MAX ? ENAMETOOLONG : 0;
}

class LocalFolder final : public Folder {
 public:
  LocalFolder(std::shared_ptr<const Anchor> root, Descriptor fd, std::string name)
      : root_(std::move(root)), fd_(std::move(fd)), name_(std::move(name)) {}

  Outcome<std::span<const std::byte>> read_all(std::string_view name, Buffer& buffer, std::uint64_t most) override {
    if (const int error = refuse_leaf(name); error != 0) {
      return error != EINVAL ? system_problem(error, text::path_in(name_, name))
                             : in_file(damaged("is not the name of a file in a directory"), text::path_in(name_, name));
    }
    const Descriptor fd = open(name);
    struct stat status;
    if (!fd || uninterrupted([&] { return ::fstat(fd.get(), &status); }) != 0) {
      return why_not_opened(errno, text::path_in(name_, name), fd_.get(), name);
    }
    if (!S_ISREG(status.st_mode)) {
      return Problem{ProblemKind::damaged, text::path_in(name_, name), {}, "is not a regular file"};
    }
    return read_open(fd.get(), static_cast<std::uint64_t>(status.st_size), name, buffer, most);
  }

  /// Opening a file whose inode is not in memory waits for the disk, and reading it waits again. Requesting the data of
  /// many files before reading the first keeps the disk busy with all of them.
  void announce(std::span<const std::string_view> names) override {
    const auto open_leaf = [this](std::string_view name) {
      return refuse_leaf(name) != 0 ? Descriptor()
                                    : Descriptor(::openat(fd_.get(), std::string(name).c_str(),
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

  [[nodiscard]] std::optional<FileStamp> stamp(std::string_view name) const override {
    struct stat status = {};
    if (refuse_leaf(name) != 0 || ::fstatat(fd_.get(), std::string(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return std::nullopt;
    }
    if (S_ISLNK(status.st_mode)) {
      const Descriptor target = open_beneath(root_->fd.get(), root_->resolve, text::path_in(name_, name), O_PATH);
      if (!target || ::fstat(target.get(), &status) != 0) {
        return std::nullopt;
      }
    }
    return stamp_from(status, status.st_size);
  }

 private:
  [[nodiscard]] Descriptor open(std::string_view name) const {
    constexpr int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    const std::string leaf(name);
    const int fd = uninterrupted([&] { return ::openat(fd_.get(), leaf.c_str(), flags | O_NOFOLLOW); });
    if (fd < 0 && errno == ELOOP) {  // A link: good if it stays beneath the root.
      return open_beneath(root_->fd.get(), root_->resolve, text::path_in(name_, name), flags);
    }
    return Descriptor(fd);
  }

  /// `expected` is only a hint: the file may grow or shrink meanwhile.
  [[nodiscard]] Outcome<std::span<const std::byte>> read_open(int fd, std::uint64_t expected, std::string_view name,
                                                              Buffer& buffer, std::uint64_t most) const {
    if (expected > most) {
      return too_long(text::path_in(name_, name), most);
    }
    const auto whole = static_cast<std::size_t>(expected) + 1;
    std::size_t room =
        std::max({whole, buffer.capacity(), std::clamp(std::bit_ceil(whole), least_buffer, most_rounded)});
    std::size_t done = 0;
    while (true) {
      std::byte* data = buffer.reserve(room);
      if (data == nullptr) {
        return system_problem(ENOMEM, text::path_in(name_, name));
      }
      const ssize_t n = uninterrupted([&] { return ::pread(fd, data + done, room - done, static_cast<off_t>(done)); });
      if (n < 0) {
        return system_problem(errno, text::path_in(name_, name));
      }
      done += static_cast<std::size_t>(n);
      if (done > most) {
        return too_long(text::path_in(name_, name), most);
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

/// Returns the folder that was opened beneath the root by that name.
std::unique_ptr<Folder> local_folder(std::shared_ptr<const Anchor> root, Descriptor fd, std::string_view name) {
  return std::make_unique<LocalFolder>(std::move(root), std::move(fd), std::string(text::without_slashes(name)));
}

class LocalStorage final : public Storage {
 public:
  LocalStorage(std::shared_ptr<LocalRoot> root, bool inotify) : root_(std::move(root)), inotify_(inotify) {}

  Outcome<std::vector<DirEntry>> list(std::string_view folder) override { return list_local(*root_->anchor(), folder); }
  Outcome<std::vector<DirEntry>> list_some(std::string_view folder, std::size_t most) override {
    return list_local(*root_->anchor(), folder, most);
  }

  Outcome<ListedFolder> open_listed(std::string_view folder) override {
    const auto root = root_->anchor();
    auto fd = open_directory(*root, folder);
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
    return stamp_from(status, status.st_nlink);
  }

  std::optional<FolderIdentity> identity(std::string_view folder) override {
    const auto status = status_of(folder, O_PATH | O_DIRECTORY);
    return status ? std::optional(FolderIdentity{status->st_dev, status->st_ino}) : std::nullopt;
  }

  std::string_view off_limits(std::string_view folder) override {
    std::error_code error;
    const fs::path root = fs::canonical(root_->path(), error);
    const fs::path target = error ? fs::path() : fs::canonical(root / folder, error);
    if (error) {
      return {};  // listing it reports why
    }
    if (text::lies_in(root.native(), target.native())) {
      return "symbolic link to a folder that it lies in, not followed";
    }
    constexpr std::array<const char*, 3> of_system = {"/proc", "/sys", "/dev"};
    const bool in_memory = text::lies_in(target.native(), "/dev/shm");  // files like those on disk
    const bool leads_out = !in_memory && std::ranges::any_of(of_system, [&](const char* system) {
      return text::lies_in(target.native(), system) && !text::lies_in(root.native(), system);
    });
    return leads_out ? "a folder of the system's /proc, /sys or /dev, not searched" : std::string_view();
  }

  std::optional<FileStamp> file_stamp(std::string_view name) override {
    const auto status = status_of(name);
    return status ? std::optional(stamp_from(*status, status->st_size)) : std::nullopt;
  }

  std::optional<std::chrono::system_clock::time_point> written_at(std::string_view name) override {
    const auto status = status_of(name);
    return status ? std::optional(time_written(*status)) : std::nullopt;
  }

  /// Ignores what is removed meanwhile. Counts a file with several names once. Follows symbolic links to files where
  /// these may lead anywhere; each file to which they lead counts once, and once more if it lies below the folder
  /// itself under one name: to find that out, all files would be kept.
  Outcome<FileTotals> totals_below(std::string_view folder, std::span<const std::string> except) override {
    const auto root = root_->anchor();
    const bool follows = root->resolve == Resolve::anywhere;
    std::set<std::pair<dev_t, ino_t>> counted;  // those to which links lead, and those with several names
    FileTotals totals;
    std::vector<std::string> folders{std::string(folder)};
    while (!folders.empty()) {
      const std::string path = std::move(folders.back());
      folders.pop_back();
      const auto fd = open_directory(*root, path);
      if (!fd && fd.problem().kind == ProblemKind::not_found) {
        continue;
      }
      const auto entries = fd ? entries_of(*root, path, fd->get()) : Outcome<std::vector<DirEntry>>(fd.problem());
      if (!entries) {
        return entries.problem();
      }
      for (const DirEntry& entry : *entries) {
        struct stat status;
        const bool followed = follows && entry.link;
        const int flags = followed ? 0 : AT_SYMLINK_NOFOLLOW;
        if (entry.kind == EntryKind::folder && !entry.link) {
          std::string below = text::path_in(path, entry.name);
          if (!std::ranges::binary_search(except, below)) {
            folders.push_back(std::move(below));
          }
        } else if (uninterrupted([&] { return ::fstatat(fd->get(), entry.name.c_str(), &status, flags); }) == 0 &&
                   S_ISREG(status.st_mode) &&
                   ((!followed && status.st_nlink == 1) || counted.emplace(status.st_dev, status.st_ino).second)) {
          totals.add({time_written(status), static_cast<std::uint64_t>(status.st_size)});
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
      const bool there = ::fstatat(anchor->fd.get(), text.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
      if (!there || !S_ISLNK(status.st_mode)) {
        return there;
      }
    }
    return static_cast<bool>(open_beneath(anchor->fd.get(), anchor->resolve, name, O_PATH));
  }

  Outcome<std::unique_ptr<File>> open(std::string_view name) override {
    return open_local_file(*root_->anchor(), name);
  }

  bool read_once(std::string_view name, std::uint64_t offset, std::span<std::byte> into) override {
    if (name.empty() || !refuse_path(name).empty()) {
      return false;
    }
    const auto root = root_->anchor();
    // Reading a directory or a FIFO at an offset fails; a device yields bytes that are no valid record.
    const Descriptor fd = open_beneath(root->fd.get(), root->resolve, name, O_RDONLY | O_NONBLOCK);
    return fd && read_fully(fd.get(), offset, into) == static_cast<ssize_t>(into.size());
  }

  Outcome<std::unique_ptr<Folder>> open_folder(std::string_view name) override {
    const auto root = root_->anchor();
    auto fd = open_directory(*root, name, O_PATH);
    return fd ? Outcome<std::unique_ptr<Folder>>(local_folder(root, *std::move(fd), name)) : std::move(fd.problem());
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
  [[nodiscard]] std::optional<struct stat> status_of(std::string_view name, int flags = O_PATH) const {
    const auto root = root_->anchor();
    const Descriptor fd = open_beneath(root->fd.get(), root->resolve, name, flags);
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
    return stamp_from(status, status.st_nlink);
  }

  std::shared_ptr<LocalRoot> root_;
  bool inotify_;
  // A device whose folders' times are reliable; 0 if none is known yet.
  std::atomic<std::uint64_t> times_kept_on_ = 0;
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
    return why_not_opened(errno, std::string(name), root.fd.get(), name);
  }
  if (refused = why_not_a_file(status.st_mode); !refused.empty()) {
    return Problem{ProblemKind::damaged, std::string(name), {}, std::string(refused)};
  }
  return std::unique_ptr<File>(
      std::make_unique<LocalFile>(std::move(fd), static_cast<std::uint64_t>(status.st_size), std::string(name)));
}

std::shared_ptr<const Anchor> LocalRoot::anchor() const {
  const std::lock_guard lock(mutex_);
  return anchor_;
}

bool LocalRoot::reopen_if_removed() {
  const auto old = anchor();
  struct stat status;
  const bool there = ::fstat(old->fd.get(), &status) == 0 && status.st_nlink > 0;
  return !there && static_cast<bool>(reopen());
}

Status LocalRoot::revisit() {
  const auto old = anchor();
  struct stat held = {};
  struct stat there = {};
  const bool seen = uninterrupted([&] { return ::stat(path_.c_str(), &there); }) == 0;
  if (!seen && errno != ENOENT && errno != ENOTDIR) {
    return system_problem(errno, {});
  }
  if (!seen || !S_ISDIR(there.st_mode)) {
    return make_problem(ProblemKind::not_found, "was removed or moved away while it was followed");
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
  const auto fd = open_directory(root, folder);
  return fd ? entries_of(root, folder, fd->get(), most) : Outcome<std::vector<DirEntry>>(fd.problem());
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
