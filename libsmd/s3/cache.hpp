// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "text/descriptor.hpp"

namespace smd::detail::storage::s3 {

/// A cache's folder and the names in it: the marker, folders named by two hexadecimal digits, entries in these named
/// by 62 such digits, and temporary files. Nothing else is ever opened, replaced or removed, and no symbolic link
/// below the folder is followed.
struct CacheFolder {
  Descriptor root;       ///< Open if the folder is usable.
  std::string trouble;   ///< Why it is not usable.
  bool foreign = false;  ///< It contains files that are not a cache's: the user named the wrong folder.
};

/// Opens the folder of a cache. Creates it and its parents if needed, accessible only to this user. An existing folder
/// must have the marker, or be empty: then it receives one. Safe for any number of processes at the same time.
[[nodiscard]] CacheFolder open_cache_folder(const std::string& path);

/// A folder that caches objects, or ranges of them, by name. Any number of processes may share it: an entry appears
/// complete (temporary file, then rename) and is checked when it is read. Thread-safe.
class Cache {
 public:
  struct Entry {
    std::string etag;
    std::uint64_t object_size = 0;
    std::string data;
  };

  /// Creates the folder if needed. `say` receives messages, at most one of each kind. A folder that is not usable (see
  /// `open_cache_folder`) caches nothing.
  Cache(std::string folder, std::uint64_t most_bytes, std::function<void(std::string)> say);

  /// Returns nullopt if there is no entry, or if it is damaged; a damaged entry is removed.
  [[nodiscard]] std::optional<Entry> find(std::string_view name);
  void keep(std::string_view name, const Entry& entry);
  [[nodiscard]] bool usable() const noexcept { return usable_.load(); }

 private:
  void give_up(const std::string& why);
  void wrote(std::uint64_t bytes);

  std::string folder_;
  Descriptor root_;  // the folder
  std::uint64_t most_bytes_;
  std::function<void(std::string)> say_;
  std::atomic<bool> usable_{true};
  std::atomic<bool> damage_said_{false};
  std::mutex mutex_;
  std::uint64_t unchecked_bytes_;  // written since the folder was measured; guarded by mutex_
};

}  // namespace smd::detail::storage::s3
