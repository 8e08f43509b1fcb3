// SPDX-License-Identifier: Apache-2.0
#include "s3/reply.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <pugixml.hpp>
#include "text/json.hpp"
#include "text/number.hpp"
#include "text/time.hpp"

#include "s3/uri.hpp"

namespace smd::detail::storage::s3 {
namespace {

Problem no_page(std::string text) { return make_problem(ProblemKind::network, "the listing " + std::move(text)); }

/// Returns an element's whole text, which comments and CDATA sections may split.
std::string text_of(const pugi::xml_node& parent, const char* name) {
  std::string text;
  for (const pugi::xml_node& node : parent.child(name).children()) {
    if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) {
      text += node.value();
    }
  }
  return text;
}

void parse_json_error(const std::string& body, ErrorReply& error) {
  text::JsonDocument<nlohmann::json> object;
  if (text::parse_json(body, object) || !object->is_object()) {
    return;
  }
  error.code = text::member_text(*object, "__type");
  error.code.erase(0, error.code.rfind('#') + 1);  // `namespace#Code`
  error.message = text::member_text(*object, "message") + text::member_text(*object, "Message");
}

}  // namespace

ErrorReply parse_error(const HttpResponse& response) {
  ErrorReply error;
  pugi::xml_document document;
  if (response.body.starts_with('{')) {
    parse_json_error(response.body, error);
  } else if (document.load_buffer(response.body.data(), response.body.size())) {
    const pugi::xml_node root = document.document_element();
    const pugi::xml_node node = root.child("Error") ? root.child("Error") : root;
    error.code = text_of(node, "Code");
    error.message = text_of(node, "Message");
    error.region = text_of(node, "Region");
    error.request_id = text_of(node, "RequestId");
  }
  if (const std::string_view region = response.header("x-amz-bucket-region"); !region.empty()) {
    error.region = std::string(region);
  }
  if (!is_region(error.region)) {
    error.region.clear();
  }
  if (error.request_id.empty()) {
    error.request_id = std::string(response.header("x-amz-request-id"));
  }
  return error;
}

Outcome<ListPage> parse_list_page(std::string_view xml) {
  pugi::xml_document document;
  const auto parsed =
      document.load_buffer(xml.data(), xml.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!parsed) {
    return no_page("is no XML: " + std::string(parsed.description()));
  }
  if (document.find_child([](const pugi::xml_node& node) { return node.type() == pugi::node_doctype; })) {
    return no_page("holds a document type, which S3 never sends");
  }
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != "ListBucketResult") {
    return no_page("is another document");
  }
  const bool encoded = text_of(root, "EncodingType") == "url";
  const auto text = [encoded](const std::string& value) { return encoded ? uri_decode(value) : value; };
  ListPage page;
  const std::string truncated = text_of(root, "IsTruncated");
  if (truncated != "true" && truncated != "false") {
    return no_page("does not say whether there is more");
  }
  page.truncated = truncated == "true";
  page.token = text_of(root, "NextContinuationToken");
  if (page.truncated && page.token.empty()) {
    return no_page("says that there is more, but not how to get it");
  }
  for (const pugi::xml_node& node : root.children("Contents")) {
    std::string key = text(text_of(node, "Key"));
    const auto size = parse_number(text_of(node, "Size"));
    if (key.empty() || !size) {
      return no_page("holds an object without key or size");
    }
    page.objects.push_back({std::move(key), text_of(node, "ETag"), *size, parse_time(text_of(node, "LastModified"))});
  }
  for (const pugi::xml_node& node : root.children("CommonPrefixes")) {
    std::string prefix = text(text_of(node, "Prefix"));
    if (prefix.empty()) {
      return no_page("holds a folder without a name");
    }
    page.prefixes.push_back(std::move(prefix));
  }
  return page;
}

std::optional<std::uint64_t> parse_number(std::string_view text) { return text::parsed<std::uint64_t>(text); }

std::optional<ContentRange> parse_content_range(std::string_view text) {
  constexpr std::string_view unit = "bytes ";
  const std::size_t slash = text.find('/');
  if (!text.starts_with(unit) || slash == text.npos) {
    return std::nullopt;
  }
  const auto total = parse_number(text.substr(slash + 1));
  const std::string_view bounds = text.substr(unit.size(), slash - unit.size());
  if (total && bounds == "*") {
    return ContentRange{.total = *total};
  }
  const std::size_t dash = std::min(bounds.find('-'), bounds.size() - 1);
  const auto first = parse_number(bounds.substr(0, dash));
  const auto last = parse_number(bounds.substr(dash + 1));
  if (!total || !first || !last || *last < *first || *last >= *total) {
    return std::nullopt;
  }
  return ContentRange{first, *last, *total};
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::size_t comma = text.find(", ");
  if (comma == text.npos || text.size() < comma + 22) {
    return std::nullopt;
  }
  text.remove_prefix(comma + 2);
  const std::size_t month = months.find(text.substr(3, 3));
  if (month == months.npos || month % 3 != 0) {
    return std::nullopt;
  }
  const auto time = text::seconds_of_time(
      fmt::format("{}-{:02}-{}T{}Z", text.substr(7, 4), month / 3 + 1, text.substr(0, 2), text.substr(12, 8)), true);
  return time ? std::optional(static_cast<std::int64_t>(*time)) : std::nullopt;
}

std::optional<std::chrono::system_clock::time_point> parse_time(std::string_view text) {
  const auto time = text::seconds_of_time(text, false);
  if (!time) {
    return std::nullopt;
  }
  // The clock counts nanoseconds; its range is 1677 to 2262.
  using Clock = std::chrono::system_clock;
  constexpr auto first = std::chrono::ceil<std::chrono::seconds>(Clock::time_point::min());
  constexpr auto last = std::chrono::floor<std::chrono::seconds>(Clock::time_point::max());
  return std::clamp(std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(std::floor(*time)))), first,
                    last);
}

std::optional<Credentials> credentials_from_json(std::string_view text, const char* token_name,
                                                 std::optional<int> version) {
  text::JsonDocument<nlohmann::json> object;
  if (text::parse_json(text, object) || !object->is_object() ||
      (version && (!object->contains("Version") || (*object)["Version"] != *version))) {
    return std::nullopt;
  }
  Credentials credentials{text::member_text(*object, "AccessKeyId"), text::member_text(*object, "SecretAccessKey"),
                          text::member_text(*object, token_name), parse_time(text::member_text(*object, "Expiration"))};
  return credentials.key_id.empty() || credentials.secret.empty() ? std::nullopt
                                                                  : std::optional(std::move(credentials));
}

}  // namespace smd::detail::storage::s3
