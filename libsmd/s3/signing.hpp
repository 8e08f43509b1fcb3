// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::storage::s3 {

using Digest = std::array<unsigned char, 32>;

[[nodiscard]] Digest sha256(std::string_view text);
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view text);
/// Returns lower-case hexadecimal digits.
[[nodiscard]] std::string hex(const Digest& digest);
/// Returns the digest's bytes, as a key for the next step.
[[nodiscard]] inline std::string_view bytes_of(const Digest& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

/// Never printed; see scrub.hpp for texts from servers that may contain them.
struct Credentials {
  std::string key_id;
  std::string secret;
  std::string token = {};  ///< Empty for long-term keys.
  std::optional<std::chrono::system_clock::time_point> expires = {};
};

struct HttpHeader {
  std::string name;  ///< Lower case.
  std::string value;
};

/// The part of a request that is signed, and sent unchanged.
struct Signable {
  std::string method;
  std::string host;
  std::string path;   ///< Encoded; begins with `/`.
  std::string query;  ///< As `canonical_query` makes it.
  std::vector<HttpHeader> headers;
  std::string_view body;
};

/// Signs with AWS Signature Version 4 (docs.aws.amazon.com, "Create a signed AWS API request"): adds x-amz-date, for
/// S3 x-amz-content-sha256, x-amz-security-token if there is a token, and authorization. Signs all given headers and
/// the host.
void sign(Signable& request, const Credentials& credentials, std::string_view region, std::string_view service,
          std::chrono::system_clock::time_point now);

}  // namespace smd::detail::storage::s3
