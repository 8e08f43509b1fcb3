// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "s3/http.hpp"
#include "types/outcome.hpp"

/// Parses answers of S3, which are not trusted.
namespace smd::detail::storage::s3 {

/// The parts of an error's body that may be shown: the rest may repeat signed headers.
struct ErrorReply {
  std::string code;
  std::string message;
  std::string region;
  std::string request_id;
};
/// Parses XML (S3, STS) or JSON (SageMaker), and the headers if there is no body.
[[nodiscard]] ErrorReply parse_error(const HttpResponse& response);

struct ListedObject {
  std::string key;
  std::string etag;
  std::uint64_t size = 0;
  std::optional<std::chrono::system_clock::time_point> written;  ///< LastModified, if it is a valid time.
};
struct ListPage {
  std::vector<ListedObject> objects;
  std::vector<std::string> prefixes;
  bool truncated = false;
  std::string token;
};
/// Parses a page of ListObjectsV2 with `encoding-type=url`. Returns a problem of kind network, without a file, if it
/// is not valid.
[[nodiscard]] Outcome<ListPage> parse_list_page(std::string_view xml);

/// Content of `bytes 0-99/1234` or `bytes */1234`.
struct ContentRange {
  std::optional<std::uint64_t> first = {};
  std::uint64_t last = 0;
  std::uint64_t total = 0;
};
[[nodiscard]] std::optional<ContentRange> parse_content_range(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);
/// Returns the seconds since 1970 of `Fri, 24 May 2013 00:00:00 GMT`.
[[nodiscard]] std::optional<std::int64_t> parse_http_date(std::string_view text);
/// Parses `2024-02-29T12:00:00Z`, with fractions and offsets.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_time(std::string_view text);
/// Reads AccessKeyId, SecretAccessKey, `token_name` and Expiration from a JSON object, which has this `Version` if one
/// is given.
[[nodiscard]] std::optional<Credentials> credentials_from_json(std::string_view text, const char* token_name,
                                                               std::optional<int> version = {});

}  // namespace smd::detail::storage::s3
