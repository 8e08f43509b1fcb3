// SPDX-License-Identifier: Apache-2.0
#include "s3/uri.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>

#include "text/ascii.hpp"
#include "text/bucket_name.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"
#include "text/path.hpp"
#include "text/words.hpp"

namespace smd::detail::storage::s3 {

std::string uri_encode(std::string_view text, bool path) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (text::is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~' || (path && c == '/')) {
      encoded.push_back(c);
    } else {
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string uri_decode(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace(blanks, '+', ' ');
  int size = 0;
  const std::unique_ptr<char, decltype(&curl_free)> decoded(
      curl_easy_unescape(nullptr, blanks.data(), static_cast<int>(blanks.size()), &size), &curl_free);
  return decoded ? std::string(decoded.get(), static_cast<std::size_t>(size)) : throw std::bad_alloc();
}

std::string canonical_query(const Query& query) {
  Query encoded = mapped(
      query, [](const auto& one) { return std::pair(uri_encode(one.first, false), uri_encode(one.second, false)); });
  std::ranges::sort(encoded);
  return text::joined(encoded, "&", [](const auto& one) { return one.first + "=" + one.second; });
}

Outcome<Location> parse_location(std::string_view url) {
  if (const std::string_view refused = text::refuse_location(url); !refused.empty()) {
    return make_problem(ProblemKind::not_found, std::string(refused));
  }
  url.remove_prefix(url.find("//") + 2);
  const std::size_t slash = std::min(url.find('/'), url.size());
  Location location{std::string(url.substr(0, slash)), std::string(url.substr(std::min(slash + 1, url.size())))};
  if (!location.prefix.empty() && !location.prefix.ends_with('/')) {
    location.prefix.push_back('/');
  }
  return location;
}

std::optional<Endpoint> parse_endpoint(std::string_view url) {
  Endpoint endpoint;
  endpoint.tls = url.starts_with("https://");
  if (!endpoint.tls && !url.starts_with("http://")) {
    return std::nullopt;
  }
  url = text::without_slashes(url.substr(url.find("//") + 2));
  const std::size_t slash = std::min(url.find('/'), url.size());
  std::string_view host = url.substr(0, slash);
  const std::string_view base = url.substr(slash);
  if (host.empty() || url.find_first_of("?#@ ") != url.npos || has_control(url)) {
    return std::nullopt;
  }
  if (const std::string_view own_port = endpoint.tls ? ":443" : ":80"; host.ends_with(own_port)) {
    host.remove_suffix(own_port.size());
  }
  endpoint.host = detail::folded(host);
  endpoint.base = uri_encode(base, true);
  return endpoint;
}

std::string aws_host(std::string_view service, std::string_view region, bool fips) {
  const std::string_view suffix = fips ? "-fips." : ".";
  std::string host;
  if (service == "sagemaker") {
    host.append("api").append(suffix).append("sagemaker.");
  } else if (service == "sts" && region.starts_with("us-gov-")) {
    host = "sts.";  // all endpoints there are validated
  } else {
    host.append(service).append(suffix);
  }
  return host.append(region).append(region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
}

bool is_region(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 63 &&
         std::ranges::all_of(text, [](char c) { return text::is_alphanumeric(c) || c == '-'; });
}

bool has_control(std::string_view text) noexcept {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

Address aws_address(std::string_view bucket, std::string_view region, bool fips) {
  std::string host = aws_host("s3", region, fips);
  // Names of old buckets may not be valid in host names.
  if (bucket.find_first_of("._ABCDEFGHIJKLMNOPQRSTUVWXYZ") != bucket.npos) {
    return {std::move(host), "/" + uri_encode(bucket, false) + "/"};
  }
  return {std::string(bucket) + "." + host, "/"};
}

Address own_address(const Endpoint& endpoint, std::string_view bucket) {
  return {endpoint.host, endpoint.base + "/" + uri_encode(bucket, false) + "/"};
}

}  // namespace smd::detail::storage::s3
