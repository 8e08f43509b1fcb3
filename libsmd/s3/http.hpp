// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "s3/signing.hpp"
#include "s3/stop.hpp"

namespace smd::detail::storage::s3 {

/// Why there is no whole answer.
enum class Trouble : std::uint8_t {
  none,
  resolve,   ///< The host's name.
  connect,   ///< Refused, unreachable, or no answer in time.
  tls,       ///< The certificate, or what was agreed on. Never worth another try.
  stalled,   ///< Connected, but too slow, or silent.
  broken,    ///< Reset, or ended before its time.
  too_long,  ///< More than the caller takes.
  internal,  ///< Memory, descriptors.
  stopped,   ///< The caller asked for it.
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;  ///< Sent as it is.
  std::vector<HttpHeader> headers;
  std::string_view body;                         ///< Must last until the answer is there.
  std::uint64_t most = std::uint64_t{64} << 20;  ///< Longest body taken; that of an error answer is cut at 64 KiB.
  /// Where a body with status 200 or 206 goes instead of `HttpResponse::body`; may be empty.
  std::span<std::byte> into = {};
  /// Of an answer with status 200: bytes before what belongs to `into`. What comes after it is not waited for.
  std::uint64_t skip = 0;
  bool via_proxy = true;
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::seconds stall_timeout{20};      ///< So long under 1 KiB/s ends it.
  std::chrono::milliseconds total_timeout{0};  ///< Of all of it; 0: none.
  const Stop* stop = nullptr;                  ///< Ends it, wherever it is. Must last until the answer is there.
};

struct HttpResponse {
  Trouble trouble = Trouble::none;
  std::string text;  ///< What the trouble was, for people.
  long status = 0;
  std::vector<HttpHeader> headers;  ///< Names in lower case.
  std::string body;
  std::size_t into_bytes = 0;  ///< How many of `into` were filled.
  std::uint64_t received = 0;  ///< Bytes of the body.

  /// The last of that name; empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
};

/// Connections kept open and used again, by one thread of its own (libcurl's multi interface). Thread-safe.
class HttpPool {
 public:
  /// At most `in_flight` requests at once; others wait their turn. `ca_file`: certificates to trust; empty: the
  /// system's.
  HttpPool(unsigned in_flight, std::string ca_file);
  HttpPool(const HttpPool&) = delete;
  HttpPool& operator=(const HttpPool&) = delete;
  ~HttpPool();

  /// Sends and waits. Redirects are not followed.
  [[nodiscard]] HttpResponse perform(const HttpRequest& request);

  /// The server asks for less: half as many at once. They grow again, one by one, as requests succeed.
  void slow_down() noexcept;
  [[nodiscard]] unsigned in_flight_limit() const noexcept;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace smd::detail::storage::s3
