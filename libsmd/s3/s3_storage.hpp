// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "s3/cache.hpp"
#include "s3/client.hpp"
#include "storage/remote_writer.hpp"
#include "storage/storage.hpp"

namespace smd::detail::storage::s3 {

/// What storage, folders and files of one trial share. Thread-safe.
class Bucket {
 public:
  /// `stop` ends every request; `answered`, which may be empty, is called after each request that the server answered
  /// and did not refuse.
  Bucket(std::shared_ptr<Client> client, Location location, std::shared_ptr<Cache> cache, Stop stop,
         std::function<void()> answered = {});

  [[nodiscard]] Client& client() const noexcept { return *client_; }
  [[nodiscard]] std::string key_of(std::string_view name) const { return location_.prefix + std::string(name); }
  [[nodiscard]] const Location& location() const noexcept { return location_; }
  /// Returns a request for the object of that name. Must not outlive the bucket.
  [[nodiscard]] Ask ask_about(const std::string& name) const;

  /// Result of a listing: objects, and with a delimiter common prefixes. Names are relative to the trial's prefix.
  struct Listed {
    std::vector<std::string> names;
    std::vector<std::string> folders;                  ///< Without the final `/`.
    bool truncated = false;                            ///< There are more than requested.
    std::vector<storage::Storage::FileTotals> totals;  ///< Of each object, as `names`.
  };
  /// Number of pages that a listing may still take; the parts of one listing share it.
  using Pages = std::atomic<int>;
  /// Receives one page; the listing ends if it returns a problem.
  using TakePage = std::function<Status(Listed page)>;
  /// Lists the names that begin with `name`, page by page; with `one_level` up to the next `/`. `after`: only names
  /// after this one. More than `limits::listing_pages` pages are a problem.
  Status list_pages(const std::string& name, bool one_level, const std::string& after, Pages& left,
                    const TakePage& take);
  /// Returns the first page of such a listing, with at most `names` names.
  Outcome<Listed> list_first(const std::string& name, bool one_level, const std::string& after, unsigned names = 1000);

  /// Returns what the last listing said of a file that is written whole; nullopt for other files.
  [[nodiscard]] std::optional<ListedObjectFacts> listed_facts(std::string_view name) const;
  /// Discards what a listing said of an object, because it may be out of date.
  void forget(const std::string& name);

  /// Returns a whole object.
  Outcome<std::string> get(const std::string& name, std::uint64_t most);

  struct Range {
    std::string etag;
    std::uint64_t object_size = 0;
    std::size_t bytes = 0;  ///< Number of bytes of `into` that were filled.
  };
  /// Reads bytes from `offset` on. `etag` not empty: only if the object still has it. Cached if `keep`.
  Outcome<Range> get_range(const std::string& name, std::uint64_t offset, std::span<std::byte> into,
                           const std::string& etag, bool keep);

 private:
  [[nodiscard]] std::string cache_name(const std::string& name, std::string_view part) const;
  struct PageRequest;
  Outcome<Listed> list_page(PageRequest& request);
  Outcome<Listed> next_page(PageRequest& request);
  /// Sends a request. If all attempts for the object failed a moment ago, returns the same problem without a request,
  /// because many records may be in it.
  Outcome<HttpResponse> answer_to(const Ask& ask);

  std::shared_ptr<Client> client_;
  Location location_;
  std::shared_ptr<Cache> cache_;  // may be null
  Stop stop_;
  std::function<void()> answered_;
  struct Failed {
    Problem problem;
    std::chrono::steady_clock::time_point forgotten;
  };
  std::mutex failed_mutex_;
  std::map<std::string, Failed> failed_;  // by name; guarded
  ListedObjects listed_;  // of all names if there is a cache, else only of files that are read or written whole
};

/// Calls `work` for each index below `count`, for up to `jobs` at once, until one returns a problem. Returns the
/// problem of the lowest index.
[[nodiscard]] Status in_parallel(unsigned jobs, std::size_t count, const std::function<Status(std::size_t)>& work);

/// Opens `s3://bucket/prefix` with one LIST request. The problem is not_found if no key begins with the prefix.
[[nodiscard]] Outcome<std::unique_ptr<Storage>> open_s3(const std::string& url, Settings settings);

/// As above, for a known bucket, without checking whether anything exists.
[[nodiscard]] std::unique_ptr<Storage> read_s3(std::shared_ptr<Bucket> bucket, std::string root);

/// Objects of up to `whole` bytes are sent in one request. Larger ones are sent in parts, several at once, with at
/// most `whole` bytes buffered. `whole` is a multiple of `part`, which is at least 5 MiB (tests use less).
struct UploadSizes {
  std::size_t whole = std::size_t{64} << 20;
  std::size_t part = std::size_t{16} << 20;
};

/// Opens `s3://bucket/prefix` for writing. Sends no request yet.
[[nodiscard]] Outcome<std::unique_ptr<RemoteWriter>> open_s3_writer(const std::string& url, Settings settings,
                                                                    UploadSizes sizes = {});

}  // namespace smd::detail::storage::s3
