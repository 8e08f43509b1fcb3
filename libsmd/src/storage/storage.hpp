// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "types/outcome.hpp"

/// Access to a trial's files. Names are relative to the trial's root, with `/` between parts; `""` is the root itself.
/// Nothing outside the root can be reached, whatever a name contains. Problems name the file as the caller did.
namespace smd::detail::storage {

/// Returns whether a name can be that of a file in a folder.
[[nodiscard]] constexpr bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
}

enum class EntryKind : std::uint8_t { file, folder, other };

struct DirEntry {
  std::string name;  ///< Within its folder.
  EntryKind kind = EntryKind::file;
  bool link = false;        ///< The name is a symbolic link, and `kind` that of its target.
  std::uint64_t inode = 0;  ///< A file that replaces another has a different one. 0 in a remote store.
};
inline constexpr std::size_t all_names = std::numeric_limits<std::size_t>::max();

/// Changes whenever another file takes a name or the file is written to, but not twice within a tick of the file
/// system's clock.
using FileStamp = std::array<std::uint64_t, 5>;

/// Returns the size of the file that had a stamp.
[[nodiscard]] inline std::uint64_t size_of(const FileStamp& stamp) noexcept { return stamp.back(); }

/// Returns how long ago a file was written by this host's clock; for a time in the future, how far ahead it is, which
/// is at least the error of one of the clocks.
[[nodiscard]] inline std::chrono::nanoseconds age_of(std::chrono::system_clock::time_point written) {
  return std::chrono::abs(std::chrono::system_clock::now() - written);
}

/// One open file. `read_at` may be called from many threads.
class File {
 public:
  virtual ~File() = default;
  static constexpr std::uint64_t unknown_size = UINT64_MAX;
  /// Returns the length of the file when it was opened; `unknown_size` if only reading shows where it ends.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `into` from `offset`. Returns the number of bytes read: fewer only at the end of the file, never because of
  /// a signal.
  virtual Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const = 0;
  /// Returns whether the end of the file was never written: its length was set before.
  [[nodiscard]] virtual bool ends_in_hole() const noexcept { return false; }
  /// Returns the present stamp of the open file; nullopt if it is unknown. While it stays the same, all bytes that were
  /// read are of one version. It may differ from what `Storage::file_stamp` returns.
  [[nodiscard]] virtual std::optional<FileStamp> stamp() const { return std::nullopt; }
};

/// Changes whenever a name is added to a folder or removed from it, with the same limit.
using FolderStamp = std::array<std::uint64_t, 5>;

/// Identifies a folder, whichever of its names is used.
using FolderIdentity = std::array<std::uint64_t, 2>;

/// One open folder, for reading many small files in it. Threads may share it, each with its own buffer.
class Folder {
 public:
  virtual ~Folder() = default;
  /// Reads a whole file into `buffer`, which grows as needed. `name` is within the folder. A file of more than `most`
  /// bytes is damaged. The result is valid until the next call with the same buffer.
  virtual Outcome<std::span<const std::byte>> read_all(std::string_view name, Buffer& buffer, std::uint64_t most) = 0;
  /// Hints that these files will be read soon, in this order, by this thread. Costs almost nothing if it does not help
  /// (local files that are in the page cache). Never fails.
  virtual void announce(std::span<const std::string_view> /*names*/) {}
  /// As `Storage::file_stamp`, for a file in this folder.
  [[nodiscard]] virtual std::optional<FileStamp> stamp(std::string_view /*name*/) const { return std::nullopt; }
};

/// Wakes the thread that waits for a trial to change. Events are hints: they may come late, twice, or without a change,
/// so the caller looks at the trial after each. One waiter at a time.
class Watch {
 public:
  virtual ~Watch() = default;
  /// Waits for a change, for `deadline`, or for `wake`. Returns true at a change.
  virtual bool wait_until(std::chrono::steady_clock::time_point deadline) = 0;
  /// Ends a wait early; callable from any thread and from a signal handler.
  virtual void wake() noexcept = 0;
  /// Returns true if it is certain that nothing changed since the watch was made or the last wait ended, so that
  /// listings made since are still valid.
  [[nodiscard]] virtual bool quiet() const noexcept { return false; }
  /// Returns how changes are noticed, for -v: `inotify`, or `polling` and why.
  [[nodiscard]] virtual std::string method() const = 0;
};

/// A folder's content, and the folder, which may be read without being opened again.
struct ListedFolder {
  std::vector<DirEntry> entries;
  std::optional<FolderStamp> stamp;  ///< Before it was listed.
  std::unique_ptr<Folder> folder;    ///< Null if `Storage::open_folder` must open it.
};

/// What a watch reports.
struct WatchScope {
  /// Folders that are watched with all folders below them, also those made later; `""`: the root.
  std::vector<std::string_view> folders;
  bool growing = false;  ///< Also report writes to files that are still open.
};

/// Thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;
  /// Returns the names in a folder, unsorted, without `.` and `..`. If the folder does not exist, the problem is of
  /// kind not_found.
  virtual Outcome<std::vector<DirEntry>> list(std::string_view folder) = 0;
  /// As `list`, but of a folder with more than `most` names it may return some of them, more than `most`.
  virtual Outcome<std::vector<DirEntry>> list_some(std::string_view folder, std::size_t /*most*/) {
    return list(folder);
  }
  /// Nullopt if a stamp is unavailable or would be unreliable.
  virtual std::optional<FolderStamp> stamp(std::string_view /*folder*/) { return std::nullopt; }
  /// As `stamp` and `list`, with as few calls as possible.
  virtual Outcome<ListedFolder> open_listed(std::string_view folder) {
    ListedFolder listed;
    listed.stamp = stamp(folder);
    auto entries = list(folder);
    if (!entries) {
      return std::move(entries.problem());
    }
    listed.entries = *std::move(entries);
    return listed;
  }
  /// Nullopt if the folder does not exist, or if folders have only one name in this storage.
  virtual std::optional<FolderIdentity> identity(std::string_view /*folder*/) { return std::nullopt; }
  /// Returns why a walk must not visit a folder, such as one to which a link leads; empty if it may.
  virtual std::string_view off_limits(std::string_view /*folder*/) { return {}; }
  /// Nullopt if the file does not exist, or if only reading it shows whether it changed.
  virtual std::optional<FileStamp> file_stamp(std::string_view /*name*/) { return std::nullopt; }
  /// Returns when a file was last written; a remote store's listing may be out of date. Nullopt if unknown.
  virtual std::optional<std::chrono::system_clock::time_point> written_at(std::string_view /*name*/) {
    return std::nullopt;
  }
  /// Returns whether anything of that name exists.
  virtual bool exists(std::string_view name) = 0;
  /// Opens a regular file. The problem is not_found if nothing has that name. It is damaged if something else does (a
  /// FIFO does not block), if the name is empty, absolute, or has NUL or a `..` part, or if a link leads out.
  virtual Outcome<std::unique_ptr<File>> open(std::string_view name) = 0;
  /// As `open`, with a hint that reading will begin at `offset` and take `length` bytes: a remote store then needs only
  /// one request.
  virtual Outcome<std::unique_ptr<File>> open_at(std::string_view name, std::uint64_t /*offset*/,
                                                 std::uint64_t /*length*/) {
    return open(name);
  }
  /// Fills `into` from `offset` of a file from which nothing else is read, with as few calls as possible. Does not
  /// check that the file is a regular one. Returns false on any failure; `open` then reports the reason.
  virtual bool read_once(std::string_view /*name*/, std::uint64_t /*offset*/, std::span<std::byte> /*into*/) {
    return false;
  }
  virtual Outcome<std::unique_ptr<Folder>> open_folder(std::string_view name) = 0;
  /// Watches the root and the folders of `scope`. Null if this storage has no watch.
  virtual std::unique_ptr<Watch> watch(std::chrono::milliseconds /*poll_interval*/, const WatchScope& /*scope*/) {
    return nullptr;
  }
  /// Returns the default poll interval.
  [[nodiscard]] virtual std::chrono::milliseconds default_interval() const noexcept { return std::chrono::seconds(2); }
  /// For waiting: checks that the root still exists. Returns a problem if it was removed, moved away or is no longer
  /// accessible. If another directory replaced it, opens that one and changes `generation`.
  virtual Status revisit() { return ok(); }
  /// Changes when another directory took the root's place: all that was read before is of another trial.
  [[nodiscard]] virtual std::uint64_t generation() const noexcept { return 0; }
  /// Returns whether each call costs a round trip to another machine, so that callers should make few calls, many at
  /// once, and read no more than they need.
  [[nodiscard]] virtual bool remote() const noexcept { return false; }
  /// Discards what a remote store's listing said of a file, so that the next call for it asks the store.
  virtual void forget(std::string_view /*name*/) {}
  /// Receives a part of a listing. Called from any thread, but never concurrently.
  using TakeNames = std::function<void(std::span<const std::string> names)>;
  /// Only for remote stores: lists all files at any depth below a folder, by their names relative to it, in parts and
  /// in no order, never all in memory. `after`: only names after this one in byte order. A folder that does not exist
  /// has no files.
  virtual Status list_below(std::string_view folder, std::string_view /*after*/, const TakeNames& /*take*/) {
    return Problem{ProblemKind::io, std::string(folder), {}, "is listed folder by folder"};
  }
  /// What files are together.
  struct FileTotals {
    std::optional<std::chrono::system_clock::time_point> newest;  ///< When the newest was written; nullopt: no file.
    std::uint64_t bytes = 0;

    void add(const FileTotals& more) {
      newest = std::max(newest, more.newest);
      bytes += more.bytes;
    }
  };
  /// What the files at any depth below a folder are together, but for those in the folders of `except`, which are named
  /// from the root, in order; nothing if there is no such folder.
  virtual Outcome<FileTotals> totals_below(std::string_view folder, std::span<const std::string> /*except*/ = {}) {
    return Problem{ProblemKind::io, std::string(folder), {}, "the times of files are unknown"};
  }
  using TakeEntries = std::function<void(std::vector<DirEntry> entries)>;
  /// As `list`, for folders that may be too large for memory: calls `take` with some entries at a time. `take` may list
  /// other folders.
  virtual Status list_parts(std::string_view folder, const TakeEntries& take) {
    auto entries = list(folder);
    if (!entries) {
      return std::move(entries.problem());
    }
    take(std::move(*entries));
    return ok();
  }
  /// Returns how many concurrent reads are worthwhile.
  [[nodiscard]] virtual unsigned parallelism() const noexcept = 0;
  /// Returns how many of so many threads should read.
  [[nodiscard]] unsigned readers(unsigned jobs) const noexcept {
    return jobs <= 1 ? 1 : std::clamp(parallelism(), 1U, jobs);
  }
  /// Returns the path or URL of the root, for messages.
  [[nodiscard]] virtual const std::string& root() const noexcept = 0;
};

/// Returns a watch that reports when `path`, which does not exist yet, may have been made. Accepts local paths and S3
/// URLs.
[[nodiscard]] std::unique_ptr<Watch> watch_for_path(const std::string& path, std::chrono::milliseconds poll_interval);

/// Returns a watch that reports a possible change each `poll_interval`, which is enough for any storage.
[[nodiscard]] std::unique_ptr<Watch> polled_watch(std::chrono::milliseconds poll_interval);

/// Returns the problem of a file that is longer than the caller allows.
[[nodiscard]] inline Problem too_long(std::string file, std::uint64_t most) {
  return in_file(damaged("is longer than " + std::to_string(most) + " bytes, the most allowed here"), std::move(file));
}

/// Returns whether a problem is that of `too_long`: a retry with a larger `most` may succeed.
[[nodiscard]] inline bool is_too_long(const Problem& problem, std::uint64_t most) {
  return problem == too_long(problem.file, most);
}

/// Opens a storage for a local directory. Holds it by descriptor, so renaming the directory has no effect.
Outcome<std::unique_ptr<Storage>> open_local(const std::string& path);

/// As `open_local`, for layouts in which every name comes from a listing: symbolic links are followed wherever they
/// lead, and are listed as their targets. A walk must visit each folder only once, by its `identity`.
Outcome<std::unique_ptr<Storage>> open_local_with_links(const std::string& path);

}  // namespace smd::detail::storage
