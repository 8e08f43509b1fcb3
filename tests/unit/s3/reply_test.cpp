// SPDX-License-Identifier: Apache-2.0
#include "s3/reply.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace smd::detail::storage::s3;

TEST_CASE("s3 replies: a page of a listing") {
  const auto page = parse_list_page(
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><IsTruncated>true"
      "</IsTruncated><EncodingType>url</EncodingType><NextContinuationToken>a+/=</NextContinuationToken><Contents><Key>"
      "a+b%2Fc%3C</Key><LastModified>2013-05-24T00:00:01.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>12</Size></"
      "Contents><CommonPrefixes><Prefix>d%20e/</Prefix>"
      "</CommonPrefixes></ListBucketResult>");
  REQUIRE(page);
  CHECK(page->truncated);
  CHECK(page->token == "a+/=");
  REQUIRE(page->objects.size() == 1);
  CHECK(page->objects[0].key == "a b/c<");
  CHECK(page->objects[0].etag == "\"e\"");
  CHECK(page->objects[0].size == 12);
  CHECK(page->objects[0].written == std::chrono::sys_seconds(std::chrono::seconds(1369353601)));
  REQUIRE(page->prefixes.size() == 1);
  CHECK(page->prefixes[0] == "d e/");
}

TEST_CASE("s3 replies: text in parts, and invalid escapes") {
  const auto page = parse_list_page(
      "<ListBucketResult><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>"
      "<Contents><Key>a<!-- no text -->b<![CDATA[<c>]]>&amp;%2</Key><Size>1</Size></Contents>"
      "<Contents><Key>%zz%0Ad%00e%E2%82%AC</Key><Size>1</Size></Contents></ListBucketResult>");
  REQUIRE(page);
  REQUIRE(page->objects.size() == 2);
  CHECK(page->objects[0].key == "ab<c>&%2");
  CHECK(page->objects[1].key == std::string("%zz\nd\0e\xE2\x82\xAC", 10));
}

TEST_CASE("s3 replies: invalid pages") {
  const std::string open = "<ListBucketResult>";
  const std::string end = "</ListBucketResult>";
  for (const std::string& wrong :
       {std::string(), std::string("<html></html>"), std::string("{}"), open, open + end,
        open + "<IsTruncated>maybe</IsTruncated>" + end, open + "<IsTruncated>true</IsTruncated>" + end,
        open + "<IsTruncated>true</IsTruncated><NextContinuationToken/>" + end,
        open + "<IsTruncated>false</IsTruncated><Contents><Key></Key><Size>1</Size></Contents>" + end,
        open + "<IsTruncated>false</IsTruncated><CommonPrefixes><Prefix/></CommonPrefixes>" + end,
        open + "<IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents>" + end,
        open + "<IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>-1</Size></Contents>" + end,
        open + "<IsTruncated>false</IsTruncated><Contents><Size>1</Size></Contents>" + end,
        "<!DOCTYPE a>" + open + "<IsTruncated>false</IsTruncated>" + end}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_list_page(wrong));
  }
  CHECK(parse_list_page(open + "<IsTruncated>false</IsTruncated>" + end));
}

TEST_CASE("s3 replies: errors") {
  HttpResponse response;
  response.status = 400;
  response.body =
      "<Error><Code>AuthorizationHeaderMalformed</Code><Message>m</Message><Region>eu-west-1</Region>"
      "<RequestId>r</RequestId><StringToSign>secret</StringToSign></Error>";
  ErrorReply error = parse_error(response);
  CHECK(error.code == "AuthorizationHeaderMalformed");
  CHECK(error.region == "eu-west-1");
  CHECK(error.request_id == "r");
  response.headers = {{"x-amz-bucket-region", "eu-west-2"}};
  CHECK(parse_error(response).region == "eu-west-2");
  // A region becomes part of a host name.
  response.headers = {{"x-amz-bucket-region", "evil.example.com/"}};
  CHECK(parse_error(response).region.empty());
  response.headers.clear();
  response.body = R"({"__type": "com.amazon#ValidationException", "message": "text"})";
  error = parse_error(response);
  CHECK(error.code == "ValidationException");
  CHECK(error.message == "text");
  for (const char* const odd : {"", "plain text", "<", "{", "[1]", "{\"__type\": 1}"}) {
    response.body = odd;
    CHECK(parse_error(response).code.empty());
  }
}

TEST_CASE("s3 replies: ranges, numbers, dates") {
  const auto range = parse_content_range("bytes 5-9/100");
  REQUIRE(range);
  CHECK(*range->first == 5);
  CHECK(range->last == 9);
  CHECK(range->total == 100);
  CHECK_FALSE(parse_content_range("bytes */100")->first);
  CHECK(parse_content_range("bytes */100")->total == 100);
  for (const char* const wrong :
       {"", "bytes", "bytes 5-9", "bytes 9-5/100", "bytes 5-100/100", "bytes -9/100", "bytes 5-/100", "bytes 5-9/*",
        "items 5-9/100", "bytes /100", "bytes 1/1", "bytes 0-99999999999999999999/5"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_content_range(wrong));
  }
  CHECK(parse_number("18446744073709551615") == 18446744073709551615U);
  for (const char* const wrong : {"", " 1", "1 ", "-1", "+1", "0x1", "18446744073709551616"}) {
    CHECK_FALSE(parse_number(wrong));
  }
  CHECK(parse_http_date("Fri, 24 May 2013 00:00:00 GMT") == 1369353600);
  for (const char* const wrong : {"", "Fri", "Fri, 24 Mai 2013 00:00:00 GMT", "Fri, 31 Feb 2013 00:00:00 GMT",
                                  "Fri, 24 ayJ 2013 00:00:00 GMT", "24 May 2013 00:00:00 GMT"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_http_date(wrong));
  }
}
