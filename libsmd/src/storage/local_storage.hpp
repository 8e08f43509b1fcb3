// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "storage/beneath.hpp"
#include "storage/descriptor.hpp"
#include "storage/storage.hpp"

namespace smd::detail::storage {

/// An open directory: stays the same directory when it is renamed or replaced.
struct Anchor {
  Descriptor fd;
  Resolve resolve = Resolve::kernel;
};

/// The root of a trial. Thread-safe.
class LocalRoot {
 public:
  LocalRoot(std::string path, std::shared_ptr<const Anchor> anchor)
      : path_(std::move(path)), anchor_(std::move(anchor)) {}

  /// Opens `path`. `resolve`: default `best_resolve`.
  static Outcome<std::shared_ptr<LocalRoot>> open(const std::string& path, std::optional<Resolve> resolve);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::shared_ptr<const Anchor> anchor() const;
  /// If the directory was removed and its path exists again, opens the new one.
  /// @return whether it did.
  bool reopen_if_removed();
  /// See Storage::revisit, Storage::generation.
  Status revisit();
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(); }

  /// Names in a folder; see Storage::list.
  [[nodiscard]] Outcome<std::vector<DirEntry>> list(std::string_view folder, std::size_t most = all_names) const;
  /// See Storage::stamp.
  [[nodiscard]] std::optional<FolderStamp> stamp(std::string_view folder) const;
  /// See Storage::open_listed.
  [[nodiscard]] Outcome<ListedFolder> open_listed(std::string_view folder) const;
  /// See Storage::identity.
  [[nodiscard]] std::optional<FolderIdentity> identity(std::string_view folder) const;
  /// Nullopt if the file does not exist.
  [[nodiscard]] std::optional<struct stat> status(std::string_view name) const;
  /// See Storage::totals_below.
  [[nodiscard]] Outcome<Storage::FileTotals> totals_below(std::string_view folder) const;

 private:
  [[nodiscard]] std::optional<FolderStamp> stamp_of(int fd) const;

  std::string path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Anchor> anchor_;
  std::atomic<std::uint64_t> generation_ = 0;
  // A device whose folders' times are reliable; 0 if none is known yet.
  mutable std::atomic<std::uint64_t> times_kept_on_ = 0;
};

/// Returns how many threads may read at once: one for each CPU, but not more than the limit of open files allows. Each
/// keeps a folder and a file open, the storage its root, and a watch two more.
[[nodiscard]] unsigned most_readers() noexcept;

/// Returns how many threads each of `most_readers` may use to announce files, with one file open each.
[[nodiscard]] unsigned announcers() noexcept;

/// Settings that only tests change.
struct LocalOptions {
  std::optional<Resolve> resolve;  ///< Default: the best that works here.
  bool inotify = true;
};

Outcome<std::unique_ptr<Storage>> open_local(const std::string& path, const LocalOptions& options);

}  // namespace smd::detail::storage
