// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/s3/cache.hpp"
#include "storage/s3/client.hpp"
#include "storage/storage.hpp"

namespace smd::detail::storage::s3 {

/// What storage, folders and files of one trial share. Thread-safe.
class Bucket {
 public:
  Bucket(std::shared_ptr<Client> client, Location location, std::shared_ptr<Cache> cache);

  [[nodiscard]] Client& client() const noexcept { return *client_; }
  [[nodiscard]] std::string key_of(std::string_view name) const { return location_.prefix + std::string(name); }
  [[nodiscard]] const Location& location() const noexcept { return location_; }

  /// What was listed: objects, and with a delimiter what stands for others. Names are relative to the prefix.
  struct Listed {
    std::vector<std::string> names;
    std::vector<std::string> folders;  ///< Without the `/` at their end.
    bool truncated = false;            ///< There is more than was asked for.
  };
  /// Lists what begins with `name`: with `one_level` up to the next `/`. `after`: only names past that one. At most
  /// `most_pages`.
  Outcome<Listed> list(const std::string& name, bool one_level, const std::string& after, unsigned most_pages,
                       unsigned page_size = 1000);

  /// What a listing said of an object's ETag may be out of date.
  void forget(const std::string& name);

  /// A whole object.
  Outcome<std::string> get(const std::string& name, std::uint64_t most);

  struct Range {
    std::string etag;
    std::uint64_t object_size = 0;
    std::size_t bytes = 0;  ///< How many of `into` were filled.
  };
  /// Bytes from `offset`. `etag` not empty: only of the object as it was then. Kept in the cache if `keep`.
  Outcome<Range> get_range(const std::string& name, std::uint64_t offset, std::span<std::byte> into,
                           const std::string& etag, bool keep);

 private:
  [[nodiscard]] std::string cache_name(const std::string& name, std::string_view part) const;
  [[nodiscard]] std::string listed_etag(const std::string& name);
  [[nodiscard]] Problem problem(ProblemKind kind, const std::string& name, std::string text) const;

  std::shared_ptr<Client> client_;
  Location location_;
  std::shared_ptr<Cache> cache_;  // may be null
  std::mutex mutex_;
  std::unordered_map<std::string, std::string> etags_;  // of listed names, if there is a cache; guarded by mutex_
};

/// See Storage::open_at.
[[nodiscard]] Outcome<std::unique_ptr<File>> open_s3_file(const std::shared_ptr<Bucket>& bucket, std::string_view name,
                                                          std::uint64_t offset, std::uint64_t length);

/// Opens `s3://bucket/prefix`, with one LIST. Not found: nothing there begins with that prefix.
[[nodiscard]] Outcome<std::unique_ptr<Storage>> open_s3(const std::string& url, Settings settings);

}  // namespace smd::detail::storage::s3
