// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "s3/credentials.hpp"
#include "s3/http.hpp"
#include "s3/listed_objects.hpp"
#include "s3/reply.hpp"
#include "s3/settings.hpp"
#include "s3/uri.hpp"
#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// One request, before it is signed.
struct Ask {
  std::string method = "GET";
  std::string bucket;
  std::string key;
  Query query;
  std::vector<HttpHeader> headers;
  std::uint64_t most = std::uint64_t{64} << 20;  ///< Longest whole body taken; a longer one is damaged.
  /// If not empty: bytes of the object from `offset`, put here. The object may end before.
  std::span<std::byte> into = {};
  std::uint64_t offset = 0;
  std::string file;  ///< What a problem calls it: a name within the trial.

  std::string_view body = {};  ///< Must last until the answer is there.
  bool slow_answer = false;    ///< The server may work for minutes before it answers.

  const Stop* stop = nullptr;  ///< Ends it, in whatever it is at. Must last until the answer is there.
  std::optional<std::chrono::milliseconds> total;  ///< With all attempts; none: `Patience::total`.
  /// What a listing said: a whole body of that ETag that is shorter was cut on its way.
  std::optional<ListedObjectFacts> listed;

  // Of other services than S3:
  std::string service = "s3";
  std::optional<Endpoint> endpoint;
};

/// Signs, sends, tries again, finds out regions. Thread-safe; many threads ask at once.
class Client {
 public:
  explicit Client(Settings settings);

  /// An answer that makes sense: status 200 or 206 with all the bytes that belong to it, or 204; 304, 404, 412 or 416
  /// where that is up to who asked. Everything else is a problem: not_found (no such bucket), access_denied, network,
  /// io, stopped.
  Outcome<HttpResponse> ask(const Ask& ask);

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  void say(RemoteDetail detail, const std::string& text);
  /// A text that the server wrote, such as a name in a listing, without what it may repeat of a request.
  [[nodiscard]] std::string scrub_server_text(std::string text);
  /// Whether an answer holds the secret or the session token.
  [[nodiscard]] bool repeats_secrets(std::string_view body);

 private:
  struct Verdict;
  struct Turn;

  [[nodiscard]] std::string region_of(const std::string& bucket);
  [[nodiscard]] std::string url_of(const Ask& ask) const;
  [[nodiscard]] HttpResponse send(const Ask& ask, const Turn& turn);
  [[nodiscard]] Verdict judge(const Ask& ask, const Turn& turn, const HttpResponse& response) const;
  [[nodiscard]] Verdict judge_refusal(const Ask& ask, const Turn& turn, const HttpResponse& response) const;
  [[nodiscard]] bool change(const Ask& ask, Turn& turn, const Verdict& verdict, const HttpResponse& response);
  [[nodiscard]] bool wait_for_retry(const Ask& ask, const Turn& turn, unsigned attempt, Verdict& verdict,
                                    const HttpResponse& response);
  [[nodiscard]] bool take_tokens(int cost);
  void return_tokens(int cost);
  [[nodiscard]] ErrorReply error_of(const HttpResponse& response, const Turn& turn) const;

  Settings settings_;
  HttpPool pool_;
  CredentialChain credentials_;
  std::mutex mutex_;
  std::map<std::string, std::string> regions_;  // by bucket; guarded by mutex_
  std::atomic<std::int64_t> clock_offset_{0};   // seconds that the server is ahead
  std::atomic<int> tokens_;
  std::mutex log_mutex_;
};

/// The client for settings like these, shared by all who ask for one at the same time: trials share connections.
[[nodiscard]] std::shared_ptr<Client> shared_client(Settings settings);

}  // namespace smd::detail::storage::s3
