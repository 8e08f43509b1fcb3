// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "s3/credentials.hpp"
#include "s3/http.hpp"
#include "s3/reply.hpp"
#include "s3/settings.hpp"
#include "s3/uri.hpp"
#include "types/outcome.hpp"

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

/// A request before it is signed. `skip` and the timeouts are the client's.
struct Ask : HttpRequest {
  std::string bucket;
  std::string key;
  Query query;
  std::uint64_t offset = 0;  ///< `into` receives bytes of the object from here on. The object may end earlier.
  std::string file;          ///< The file's name in problems: a name within the trial.
  bool slow_answer = false;  ///< The server may work for minutes before it answers.
  std::optional<std::chrono::milliseconds> total;  ///< Includes all attempts; nullopt: `Patience::total`.
  /// From a listing: a complete body with this ETag that is shorter was cut off in transit.
  std::optional<ListedObjectFacts> listed;
  // For services other than S3:
  std::string service = "s3";
  std::optional<Endpoint> endpoint;
};

/// Signs and sends requests, retries them, and determines regions. Thread-safe; many threads use it at once.
class Client {
 public:
  explicit Client(Settings settings);

  /// Returns a valid answer: status 200 or 206 with all of its bytes, or 204; also 304, 404, 412 or 416 where the
  /// caller handles them. Everything else is a problem: not_found (no such bucket), access_denied, network, io,
  /// stopped.
  Outcome<HttpResponse> ask(const Ask& ask);

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  void say(LogLevel detail, const std::string& text);
  /// Returns a text from the server, such as a name in a listing, without any part of a request that it may repeat.
  [[nodiscard]] std::string scrub_server_text(std::string text);
  /// Returns whether an answer contains the secret or the session token.
  [[nodiscard]] bool repeats_secrets(std::string_view body);

 private:
  static constexpr int retry_tokens = 500;

  struct Decision;
  struct Turn;

  [[nodiscard]] std::string region_of(const std::string& bucket);
  [[nodiscard]] std::string url_of(const Ask& ask) const;
  [[nodiscard]] HttpResponse send(const Ask& ask, const Turn& turn);
  [[nodiscard]] Decision decide(const Ask& ask, const Turn& turn, const HttpResponse& response) const;
  [[nodiscard]] Decision decide_refusal(const Ask& ask, const Turn& turn, const HttpResponse& response) const;
  [[nodiscard]] bool change(const Ask& ask, Turn& turn, const Decision& decision, const HttpResponse& response);
  [[nodiscard]] bool wait_for_retry(const Ask& ask, const Turn& turn, unsigned attempt, Decision& decision,
                                    const HttpResponse& response);
  [[nodiscard]] bool take_tokens(int cost);
  [[nodiscard]] ErrorReply error_of(const HttpResponse& response, const Turn& turn) const;

  Settings settings_;
  HttpPool pool_;
  CredentialChain credentials_;
  std::mutex mutex_;
  std::map<std::string, std::string> regions_;  // by bucket; guarded by mutex_
  int tokens_ = retry_tokens;                   // guarded by mutex_
  std::atomic<std::int64_t> clock_offset_{0};   // seconds by which the server's clock is ahead
  std::mutex log_mutex_;
};

/// Returns the client for these settings. Trials with equal settings share it, and its connections.
[[nodiscard]] std::shared_ptr<Client> shared_client(Settings settings);

}  // namespace smd::detail::storage::s3
