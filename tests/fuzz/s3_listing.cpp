// SPDX-License-Identifier: Apache-2.0
// Answers of S3: the input as a page of a listing, as an error's body, as headers' values, and as URLs.
#include "s3/reply.hpp"

#include "s3/uri.hpp"
#include "source.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using namespace smd;
using namespace smd::detail::storage::s3;

SMD_FUZZ_ENTRY(s3_listing)(const std::uint8_t* data, std::size_t size) {
  fuzz::Source source(data, size);
  const std::string_view text = source.rest();
  const auto page = parse_list_page(text);
  if (!page) {
    SMD_REQUIRE(page.problem().kind == ProblemKind::network && !page.problem().text.empty());
  } else {
    // Texts never grow: entities and escapes only get shorter.
    std::size_t bytes = page->token.size();
    for (const ListedObject& object : page->objects) {
      bytes += object.key.size() + object.etag.size();
    }
    for (const std::string& prefix : page->prefixes) {
      bytes += prefix.size();
    }
    SMD_REQUIRE(bytes <= size);
    SMD_REQUIRE(!page->truncated || !page->token.empty());
  }
  HttpResponse response;
  response.status = 503;
  response.body = std::string(text);
  (void)parse_error(response);
  (void)parse_content_range(text);
  (void)parse_number(text);
  (void)parse_http_date(text);
  (void)parse_endpoint(text);
  const auto location = parse_location(text);
  SMD_REQUIRE(!location || location->prefix.empty() || location->prefix.back() == '/');
  SMD_REQUIRE(uri_decode(uri_encode(text, false)) == text);
  return 0;
}
