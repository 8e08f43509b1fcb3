// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"
#include "types/outcome.hpp"

/// Where a trial's bytes are. Names are relative to the trial's root, with `/` between parts; `""` is the root itself.
/// Nothing outside the root can be reached, whatever a name says. Problems name the file as it was asked for.
namespace smd::detail::storage {

enum class EntryKind : std::uint8_t { file, folder, other };

struct DirEntry {
  std::string name;  ///< Within its folder.
  EntryKind kind = EntryKind::file;
  bool link = false;  ///< The name is a symbolic link to that.
};

/// One open file. `read_at` may be called from many threads.
class File {
 public:
  virtual ~File() = default;
  /// Length when it was opened.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `into` from `offset`; fewer bytes only at the end of the file. Signals do not shorten it.
  virtual Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const = 0;
};

/// One open folder, for reading many small files in it. Threads may share it, each with its own buffer.
class Folder {
 public:
  virtual ~Folder() = default;
  /// The whole of a file, in `buffer` (grown as need be and reused; `base/buffer.hpp` pads it for simdjson); at most
  /// `most` bytes, longer ones are damaged. `name` is within the folder. What it returns is valid until the next
  /// call with that buffer.
  virtual Outcome<std::span<const std::byte>> read_all(std::string_view name, Buffer& buffer, std::uint64_t most) = 0;
  /// A hint that these will be read soon, in this order, by this thread. Costs next to nothing when it is worth nothing
  /// (local: they are in the page cache already). Never fails.
  virtual void announce(std::span<const std::string_view> names) = 0;
};

/// Wakes the thread that waits for a trial to change. Events are hints: they may come late, twice, or for nothing;
/// after each wake-up the caller looks for itself. One waiter at a time.
class Watch {
 public:
  virtual ~Watch() = default;
  /// Returns at a change, at `deadline`, or when `wake` was called; true at a change.
  virtual bool wait_until(std::chrono::steady_clock::time_point deadline) = 0;
  /// Ends a wait early; callable from any thread and from a signal handler.
  virtual void wake() noexcept = 0;
  /// Whether it is certain that nothing changed since it was made, or since the last wait ended: what was listed in
  /// between is as it is.
  [[nodiscard]] virtual bool quiet() const noexcept { return false; }
  /// How changes are noticed, for -v: `inotify`, or `polling` and why.
  [[nodiscard]] virtual std::string method() const = 0;
};

/// Where changes matter.
struct WatchScope {
  /// Folders that are watched with all below them, also those made later; `""`: the root.
  std::vector<std::string_view> folders;
  bool growing = false;  ///< Files that are written to matter before they are closed.
};

/// Changes whenever a name is added to a folder or taken from it, within the tick of the file system's clock.
using FolderStamp = std::array<std::uint64_t, 5>;

/// Changes whenever another file takes a name, or the file is written to, within that tick.
using FileStamp = std::array<std::uint64_t, 5>;

/// Which folder it is, by whatever name.
using FolderIdentity = std::array<std::uint64_t, 2>;

/// Thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;
  /// Names in a folder, unsorted, without `.` and `..`. A folder that is not there: ProblemKind::not_found.
  virtual Outcome<std::vector<DirEntry>> list(std::string_view folder) = 0;
  /// Nothing where no such thing can be relied upon, or had.
  virtual std::optional<FolderStamp> stamp(std::string_view /*folder*/) { return std::nullopt; }
  /// The same for all names that lead to the same folder; nullopt where a folder has one name only, or is not there.
  virtual std::optional<FolderIdentity> identity(std::string_view /*folder*/) { return std::nullopt; }
  /// Nothing where it takes reading the file to tell, or where there is none.
  virtual std::optional<FileStamp> file_stamp(std::string_view /*name*/) { return std::nullopt; }
  /// When a file was last written; of a remote store as a listing said. Nullopt if that is unknown.
  virtual std::optional<std::chrono::system_clock::time_point> written_at(std::string_view name) {
    (void)name;
    return std::nullopt;
  }
  /// Whether anything of that name exists.
  virtual bool exists(std::string_view name) = 0;
  /// A regular file; anything else of that name is damaged (a FIFO never blocks it). Not there: not_found. A name that
  /// is empty, absolute, holds NUL or a `..` part, or a symbolic link that leads out: damaged.
  virtual Outcome<std::unique_ptr<File>> open(std::string_view name) = 0;
  /// The same where reading will begin at `offset` and probably take `length` bytes: on a remote store that then costs
  /// one request in all. Both may be wrong.
  virtual Outcome<std::unique_ptr<File>> open_at(std::string_view name, std::uint64_t offset, std::uint64_t length) {
    (void)offset;
    (void)length;
    return open(name);
  }
  /// Fills `into` from `offset` of a file of which nothing else is wanted, with as few calls as that takes. False if it
  /// did not work out, for whatever reason: `open` says which. Here nothing is said of what kind of file it was.
  virtual bool read_once(std::string_view name, std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual Outcome<std::unique_ptr<Folder>> open_folder(std::string_view name) = 0;
  /// Watches the root and what `scope` says. Null: this storage does not announce changes, and waiting polls.
  virtual std::unique_ptr<Watch> watch(std::chrono::milliseconds poll_interval, const WatchScope& scope) = 0;
  /// How often to look by default.
  [[nodiscard]] virtual std::chrono::milliseconds default_interval() const noexcept { return std::chrono::seconds(2); }
  /// For waiting: whether the root is still where it was. Removed, moved away, no longer to be searched: a
  /// problem. Replaced by another: takes that one, and `generation` changes.
  virtual Status revisit() { return ok(); }
  /// Changes when all that was read before is of another trial.
  [[nodiscard]] virtual std::uint64_t generation() const noexcept { return 0; }
  /// Whether each call that asks for something costs a round trip to another machine: then little is asked for,
  /// exactly, and much at once.
  [[nodiscard]] virtual bool remote() const noexcept { return false; }
  /// Of a remote store: what is asked of that file next is asked of the store, whatever a listing said of it.
  virtual void forget(std::string_view /*name*/) {}
  /// Takes a part of a listing. Called once at a time, from any thread.
  using TakeNames = std::function<void(std::span<const std::string> names)>;
  /// Of a remote store: all files at any depth below a folder, by their names relative to it, as they are listed: some
  /// at a time, in no order, and never held all at once. `after`: only those whose names come after that in byte order.
  /// No such folder: none. Others are listed folder by folder.
  virtual Status list_below(std::string_view folder, std::string_view after, const TakeNames& take) {
    (void)after;
    (void)take;
    return Problem{ProblemKind::io, std::string(folder), {}, "is listed folder by folder"};
  }
  /// When the newest file at any depth below a folder was written; nullopt if there is no file, or no such folder.
  virtual Outcome<std::optional<std::chrono::system_clock::time_point>> newest_below(std::string_view folder) {
    return Problem{ProblemKind::io, std::string(folder), {}, "the times of files are unknown"};
  }
  /// `list` where there may be more than is to be held: `take` is given some entries at a time. It may list other
  /// folders.
  using TakeEntries = std::function<void(std::vector<DirEntry> entries)>;
  virtual Status list_parts(std::string_view folder, const TakeEntries& take) {
    auto entries = list(folder);
    if (!entries) {
      return std::move(entries.problem());
    }
    take(std::move(*entries));
    return ok();
  }
  /// How many reads at once are worthwhile.
  [[nodiscard]] virtual unsigned parallelism() const noexcept = 0;
  /// For messages: the path or URL of the root.
  [[nodiscard]] virtual const std::string& root() const noexcept = 0;
};

/// Wakes when `path`, which is not there yet, may have come into being. For any kind of path that can be opened.
[[nodiscard]] std::unique_ptr<Watch> watch_for_path(const std::string& path, std::chrono::milliseconds poll_interval);

/// Whether a problem is that descriptors ran out: a retry with fewer at a time may succeed.
[[nodiscard]] bool too_many_open_files(const Problem& problem) noexcept;

/// Storage for a local directory. Kept open by descriptor: renaming the directory does not disturb it.
Outcome<std::unique_ptr<Storage>> open_local(const std::string& path);

/// The same for layouts in which every name comes from a listing: symbolic links are followed wherever they lead, and
/// are listed as what they lead to. A walk must take each folder once, by its `identity`.
Outcome<std::unique_ptr<Storage>> open_local_with_links(const std::string& path);

}  // namespace smd::detail::storage
