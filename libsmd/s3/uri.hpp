// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// Encodes every byte except `A-Za-z0-9-._~` (and, in paths, `/`) as %XX in upper case, so that the signed text equals
/// the sent one.
[[nodiscard]] std::string uri_encode(std::string_view text, bool path);
/// Decodes; `+` is a blank, as in listings with `encoding-type=url`. Invalid escapes are left unchanged.
[[nodiscard]] std::string uri_decode(std::string_view text);

using Query = std::vector<std::pair<std::string, std::string>>;
/// Returns the parameters encoded, sorted by name and value, and joined: `a=1&b=`.
[[nodiscard]] std::string canonical_query(const Query& query);

/// `s3://bucket/prefix`.
struct Location {
  std::string bucket;
  std::string prefix;  ///< Of all keys of the trial: empty, or ends in `/`.
};
/// Parses a URL; returns a problem of kind not_found, without a file, if it is not valid.
[[nodiscard]] Outcome<Location> parse_location(std::string_view url);

/// `https://host:port/base`.
struct Endpoint {
  bool tls = true;
  std::string host;  ///< As in the Host header: with the port, unless it is the scheme's default.
  std::string base;  ///< Path before bucket and key; empty, or begins with `/` and does not end in it.
};
/// Returns nullopt unless the URL is http or https without user, query and fragment.
[[nodiscard]] std::optional<Endpoint> parse_endpoint(std::string_view url);

/// Host and path of a bucket's objects at AWS: virtual-hosted, except for buckets with dots, which no certificate
/// covers.
struct Address {
  std::string host;
  std::string path;  ///< Encoded; begins and ends with `/`. An object's path is this followed by its encoded key.
};
[[nodiscard]] Address aws_address(std::string_view bucket, std::string_view region, bool fips);
[[nodiscard]] Address own_address(const Endpoint& endpoint, std::string_view bucket);
/// Returns the host of a service (`s3`, `sts`, `sagemaker`) in a region; `fips`: the one validated by FIPS 140.
[[nodiscard]] std::string aws_host(std::string_view service, std::string_view region, bool fips);
/// Returns whether a text can be a region, and so part of a host name: only letters, digits and `-`.
[[nodiscard]] bool is_region(std::string_view text) noexcept;

/// Returns whether a text contains an ASCII control character, such as a line break, which ends a header.
[[nodiscard]] bool has_control(std::string_view text) noexcept;

}  // namespace smd::detail::storage::s3
