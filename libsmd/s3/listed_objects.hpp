// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace smd::detail::storage::s3 {

/// An object as a listing describes it.
struct ListedObjectFacts {
  std::uint64_t size = 0;
  std::size_t etag_hash = 0;
  std::optional<std::chrono::system_clock::time_point> written = {};

  [[nodiscard]] bool has_etag(std::string_view etag) const noexcept {
    return etag_hash == std::hash<std::string_view>()(etag);
  }
};

/// Facts about objects from listings, by name, used to detect objects that are cut off or unchanged. Stores hashes
/// instead of names, which may be many and long. Thread-safe.
class ListedObjects {
 public:
  void add(std::string_view name, std::uint64_t size, std::string_view etag,
           std::optional<std::chrono::system_clock::time_point> written = {}) {
    const std::lock_guard lock(mutex_);
    if (objects_.size() < most_objects) {
      objects_.insert_or_assign(hash(name), ListedObjectFacts{size, hash(etag), written});
    }
  }
  [[nodiscard]] std::optional<ListedObjectFacts> find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(hash(name));
    return found == objects_.end() ? std::nullopt : std::optional(found->second);
  }
  void forget(std::string_view name) {
    const std::lock_guard lock(mutex_);
    objects_.erase(hash(name));
  }

 private:
  /// Further objects are not recorded; they can be read all the same.
  static constexpr std::size_t most_objects = std::size_t{1} << 20;

  [[nodiscard]] static std::size_t hash(std::string_view text) noexcept { return std::hash<std::string_view>()(text); }

  mutable std::mutex mutex_;
  std::unordered_map<std::size_t, ListedObjectFacts> objects_;
};

}  // namespace smd::detail::storage::s3
