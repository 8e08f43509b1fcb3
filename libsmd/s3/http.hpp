// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "s3/signing.hpp"
#include "types/outcome.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace smd::detail::storage::s3 {

/// See RemoteOptions::stop. Empty: never stops.
using Stop = std::function<bool()>;

/// Interval at which a wait calls a `Stop`.
inline constexpr std::chrono::milliseconds stop_interval{50};

/// `stop` may be null.
[[nodiscard]] inline bool is_stopped(const Stop* stop) { return stop != nullptr && *stop && (*stop)(); }

/// Returns the problem of a request that was stopped.
[[nodiscard]] inline Problem stopped_problem(std::string file) {
  return {ProblemKind::stopped, std::move(file), {}, "the request was stopped before the server had answered"};
}

/// Sleeps until `end`, or until a stop.
inline void sleep_until(std::chrono::steady_clock::time_point end, const Stop* stop) {
  using Clock = std::chrono::steady_clock;
  for (auto now = Clock::now(); now < end && !is_stopped(stop); now = Clock::now()) {
    std::this_thread::sleep_until(std::min(end, now + stop_interval));
  }
}

/// Why there is no complete answer.
enum class Trouble : std::uint8_t {
  none,
  resolve,   ///< The host's name could not be resolved.
  connect,   ///< Refused, unreachable, or no answer in time.
  tls,       ///< The certificate or the negotiation failed. Retrying does not help.
  stalled,   ///< Connected, but too slow or silent.
  broken,    ///< Reset, or ended early.
  too_long,  ///< More than the caller accepts.
  internal,  ///< Memory, descriptors.
  stopped,   ///< The caller requested it.
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;  ///< Sent unchanged.
  std::vector<HttpHeader> headers;
  std::string_view body = {};                    ///< Must remain valid until the answer.
  std::uint64_t most = std::uint64_t{64} << 20;  ///< Longest body accepted; the body of an error is cut at 64 KiB.
  /// Receives a body with status 200 or 206 instead of `HttpResponse::body`; may be empty.
  std::span<std::byte> into = {};
  /// For an answer with status 200: number of bytes before those that belong to `into`. Bytes after them are not
  /// waited for.
  std::uint64_t skip = 0;
  bool via_proxy = true;
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::seconds stall_timeout{20};      ///< A transfer below 1 KiB/s for this long is ended.
  std::chrono::milliseconds total_timeout{0};  ///< For the whole request; 0: no limit.
  const Stop* stop = nullptr;                  ///< Ends the request at any point. Must remain valid until the answer.
};

struct HttpResponse {
  Trouble trouble = Trouble::none;
  std::string text;  ///< Description of the trouble for people.
  long status = 0;
  std::vector<HttpHeader> headers;  ///< Names in lower case.
  std::string body;
  std::size_t into_bytes = 0;  ///< Number of bytes of `into` that were filled.
  std::uint64_t received = 0;  ///< Number of bytes of the body.

  /// Returns the last header with this name; empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
};

/// Connections that are kept open and reused, driven by one thread (libcurl's multi interface). Thread-safe.
class HttpPool {
 public:
  /// Sends at most `in_flight` requests at once; others wait. `ca_file`: trusted certificates; empty: the system's.
  HttpPool(unsigned in_flight, std::string ca_file);
  ~HttpPool();

  /// Sends a request and waits for the answer. Does not follow redirects.
  [[nodiscard]] HttpResponse perform(const HttpRequest& request);

  /// Halves the number of requests at once, because the server asked for less. It grows by one with each success.
  void slow_down() noexcept;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace smd::detail::storage::s3
