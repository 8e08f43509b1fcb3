// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "storage/descriptor.hpp"
#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// Objects, or ranges of them, kept in a folder by what they are called. Any number of processes may share it: an entry
/// appears whole (temporary file, then rename) and is checked when it is read. Thread-safe.
class Cache {
 public:
  struct Entry {
    std::string etag;
    std::uint64_t object_size = 0;
    std::string data;
  };

  /// Makes the folder if need be. `say` gets what is worth saying: at most one text a kind. A folder that does not
  /// serve (see `open_cache_folder`) keeps nothing.
  static std::shared_ptr<Cache> open(std::string folder, std::uint64_t most_bytes,
                                     std::function<void(std::string)> say);

  /// Nothing if there is none, or a damaged one, which is removed.
  [[nodiscard]] std::optional<Entry> find(std::string_view name);
  void keep(std::string_view name, const Entry& entry);
  [[nodiscard]] bool usable() const noexcept { return usable_.load(); }

 private:
  Cache(std::string folder, std::uint64_t most_bytes, std::function<void(std::string)> say);
  void give_up(const std::string& why);
  void wrote(std::uint64_t bytes);

  std::string folder_;
  Descriptor root_;  // of the folder
  std::uint64_t most_bytes_;
  std::function<void(std::string)> say_;
  std::atomic<bool> usable_{true};
  std::atomic<bool> damage_said_{false};
  std::mutex mutex_;
  std::uint64_t unchecked_bytes_;  // written since the folder was measured; guarded by mutex_
};

}  // namespace smd::detail::storage::s3
