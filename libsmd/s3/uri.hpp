// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// Every byte but `A-Za-z0-9-._~` (and, in paths, `/`) as %XX in upper case: what is signed is what is sent.
[[nodiscard]] std::string uri_encode(std::string_view text, bool path);
/// The reverse; `+` is a blank, as in listings with `encoding-type=url`. What is no escape stays as it is.
[[nodiscard]] std::string uri_decode(std::string_view text);

using Query = std::vector<std::pair<std::string, std::string>>;
/// Encoded, sorted by name and value, joined: `a=1&b=`.
[[nodiscard]] std::string canonical_query(const Query& query);

/// `s3://bucket/prefix`.
struct Location {
  std::string bucket;
  std::string prefix;  ///< Of all keys of the trial: empty, or ends in `/`.
};
/// A problem of kind not_found, without a file, for what is no such URL.
[[nodiscard]] Outcome<Location> parse_location(std::string_view url);

/// `https://host:port/base`.
struct Endpoint {
  bool tls = true;
  std::string host;  ///< As it stands in the Host header: with the port, unless it is the scheme's own.
  std::string base;  ///< Path before bucket and key; empty, or begins with `/` and does not end in it.
};
/// Nothing for what is no http or https URL, or has user, query or fragment.
[[nodiscard]] std::optional<Endpoint> parse_endpoint(std::string_view url);

/// Host and path of a bucket's objects at AWS: virtual-hosted, but for buckets whose dots no certificate covers.
struct Address {
  std::string host;
  std::string path;  ///< Encoded; begins with `/`, and ends in it. An object's path is this and its encoded key.
};
[[nodiscard]] Address aws_address(std::string_view bucket, std::string_view region, bool fips);
[[nodiscard]] Address own_address(const Endpoint& endpoint, std::string_view bucket);
/// Host of a service (`s3`, `sts`, `sagemaker`) in a region; `fips`: the one with cryptography validated by FIPS 140.
[[nodiscard]] std::string aws_host(std::string_view service, std::string_view region, bool fips);
/// Whether AWS has such hosts there: not in China.
[[nodiscard]] bool has_fips(std::string_view region) noexcept;
/// Whether a text is fit to be a region, and so part of a host name: letters, digits and `-` only.
[[nodiscard]] bool is_region(std::string_view text) noexcept;

/// Whether a text holds an ASCII control character, such as the line break that ends a header.
[[nodiscard]] bool has_control(std::string_view text) noexcept;

}  // namespace smd::detail::storage::s3
