// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// A directory that stays the same while it is held, wherever it is renamed to.
struct Anchor {
  Descriptor fd;
  Resolve resolve = Resolve::kernel;
};

/// The root of a trial. Thread-safe.
class LocalRoot {
 public:
  LocalRoot(std::string path, std::shared_ptr<const Anchor> anchor)
      : path_(std::move(path)), anchor_(std::move(anchor)) {}

  /// Opens `path`; `resolve` only where the best must not be chosen.
  static Outcome<std::shared_ptr<LocalRoot>> open(const std::string& path, std::optional<Resolve> resolve);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::shared_ptr<const Anchor> anchor() const;
  /// If the directory was removed and there is one of the same path again, takes that one.
  /// @return whether it did.
  bool reopen_if_removed();
  /// See Storage::revisit, Storage::generation.
  Status revisit();
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(); }

  /// Names in a folder; see Storage::list.
  [[nodiscard]] Outcome<std::vector<DirEntry>> list(std::string_view folder) const;
  /// See Storage::stamp.
  [[nodiscard]] std::optional<FolderStamp> stamp(std::string_view folder) const;
  /// See Storage::identity.
  [[nodiscard]] std::optional<FolderIdentity> identity(std::string_view folder) const;
  /// See Storage::file_stamp.
  [[nodiscard]] std::optional<FileStamp> file_stamp(std::string_view name) const;
  /// See Storage::newest_below.
  [[nodiscard]] Outcome<std::optional<std::chrono::system_clock::time_point>> newest_below(
      std::string_view folder) const;

 private:
  std::string path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Anchor> anchor_;
  std::atomic<std::uint64_t> generation_ = 0;
  // A device whose folders' times can be relied upon; 0: none yet.
  mutable std::atomic<std::uint64_t> times_kept_on_ = 0;
};

/// How many threads may read at once: one a CPU, and no more than there may be open files. Each has a folder and a file
/// open, the storage its root, a watch two more.
[[nodiscard]] unsigned most_readers() noexcept;

/// Threads by which each of so many readers may announce files, with one open each.
[[nodiscard]] unsigned announcers() noexcept;

/// What tests choose otherwise.
struct LocalOptions {
  std::optional<Resolve> resolve;  ///< Default: the best that works here.
  bool inotify = true;
};

Outcome<std::unique_ptr<Storage>> open_local(const std::string& path, const LocalOptions& options);

}  // namespace smd::detail::storage
