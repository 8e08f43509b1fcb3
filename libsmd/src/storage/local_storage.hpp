// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/beneath.hpp"
#include "storage/storage.hpp"
#include "text/descriptor.hpp"

namespace smd::detail::storage {

/// An open directory: stays the same directory when it is renamed or replaced.
struct Anchor {
  Descriptor fd;
  Resolve resolve = Resolve::kernel;
};

/// The root of a trial, which its watches share. Thread-safe.
class LocalRoot {
 public:
  LocalRoot(std::string path, std::shared_ptr<const Anchor> anchor)
      : path_(std::move(path)), anchor_(std::move(anchor)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::shared_ptr<const Anchor> anchor() const;
  /// If the directory was removed and its path exists again, opens the new one.
  /// @return whether it did.
  bool reopen_if_removed();
  /// See Storage::revisit, Storage::generation.
  Status revisit();
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_.load(); }

 private:
  Status reopen();

  std::string path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Anchor> anchor_;
  std::atomic<std::uint64_t> generation_ = 0;
};

/// See Storage::list, Storage::list_some.
[[nodiscard]] Outcome<std::vector<DirEntry>> list_local(const Anchor& root, std::string_view folder,
                                                        std::size_t most = all_names);
/// See Storage::open.
[[nodiscard]] Outcome<std::unique_ptr<File>> open_local_file(const Anchor& root, std::string_view name);

/// See Storage::watch.
[[nodiscard]] std::unique_ptr<Watch> watch_local(std::shared_ptr<LocalRoot> root, bool inotify,
                                                 std::chrono::milliseconds poll_interval, const WatchScope& scope);

/// Settings that only tests change.
struct LocalOptions {
  std::optional<Resolve> resolve;  ///< Default: the best that works here.
  bool inotify = true;
};

Outcome<std::unique_ptr<Storage>> open_local(const std::string& path, const LocalOptions& options);

}  // namespace smd::detail::storage
