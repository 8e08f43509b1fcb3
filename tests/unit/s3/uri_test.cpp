// SPDX-License-Identifier: Apache-2.0
#include "s3/uri.hpp"

#include <doctest/doctest.h>

using namespace smd::detail::storage::s3;

TEST_CASE("s3: percent encoding") {
  CHECK(uri_encode("AZaz09-._~", false) == "AZaz09-._~");
  CHECK(uri_encode("a/b c+d%", true) == "a/b%20c%2Bd%25");
  CHECK(uri_encode("a/b", false) == "a%2Fb");
  CHECK(uri_encode("\xC3\xA9\x01", false) == "%C3%A9%01");
  CHECK(uri_decode("a%2Fb+c%C3%A9") == "a/b c\xC3\xA9");
  CHECK(uri_decode("100%") == "100%");
  CHECK(uri_decode("%zz%4") == "%zz%4");
  CHECK(canonical_query({{"b", "2"}, {"a", "x y"}, {"a", "1"}, {"c", ""}}) == "a=1&a=x%20y&b=2&c=");
}

TEST_CASE("s3: locations") {
  const auto plain = parse_location("s3://my-bucket/a/b");
  REQUIRE(plain);
  CHECK(plain->bucket == "my-bucket");
  CHECK(plain->prefix == "a/b/");
  CHECK(parse_location("s3://bucket")->prefix.empty());
  CHECK(parse_location("s3://bucket/")->prefix.empty());
  CHECK(parse_location("s3://bucket/a/")->prefix == "a/");
  CHECK(parse_location("s3://bucket/a b/\xC3\xA9")->prefix == "a b/\xC3\xA9/");
  for (const char* const wrong : {"s3:/bucket", "s3://", "s3:///key", "s3://ab", "s3://b..c/x", "s3://bad bucket/x",
                                  "s3://user@host/x", "s3://arn:aws:s3:::b/x", "s3://b%2Fc/x", "http://bucket/x"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_location(wrong));
  }
}

TEST_CASE("s3: endpoints") {
  const auto own = parse_endpoint("http://LocalHost:9000/base/");
  REQUIRE(own);
  CHECK_FALSE(own->tls);
  CHECK(own->host == "localhost:9000");
  CHECK(own->base == "/base");
  CHECK(parse_endpoint("https://host:443")->host == "host");
  CHECK(parse_endpoint("http://host:80")->host == "host");
  CHECK(parse_endpoint("https://host:80")->host == "host:80");
  for (const char* const wrong : {"host:9000", "ftp://host", "https://", "https:///x", "https://user:pass@host",
                                  "https://host/?a=b", "https://host/#a", "https://ho st"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_endpoint(wrong));
  }
}

TEST_CASE("s3: addresses of buckets") {
  const Address plain = aws_address("bucket", "eu-west-1", false);
  CHECK(plain.host == "bucket.s3.eu-west-1.amazonaws.com");
  CHECK(plain.path == "/");
  // The certificate of *.s3.REGION.amazonaws.com covers one label.
  const Address dotted = aws_address("my.bucket", "us-east-1", false);
  CHECK(dotted.host == "s3.us-east-1.amazonaws.com");
  CHECK(dotted.path == "/my.bucket/");
  CHECK(aws_address("OldBucket", "us-east-1", false).path == "/OldBucket/");  // host names have no case
  CHECK(aws_address("bucket", "cn-north-1", false).host == "bucket.s3.cn-north-1.amazonaws.com.cn");
  // As botocore 1.43 resolves them.
  CHECK(aws_address("bucket", "us-east-1", true).host == "bucket.s3-fips.us-east-1.amazonaws.com");
  CHECK(aws_address("my.bucket", "us-gov-west-1", true).host == "s3-fips.us-gov-west-1.amazonaws.com");
  CHECK(aws_host("sts", "eu-west-3", false) == "sts.eu-west-3.amazonaws.com");
  CHECK(aws_host("sts", "ca-central-1", true) == "sts-fips.ca-central-1.amazonaws.com");
  CHECK(aws_host("sts", "us-gov-east-1", true) == "sts.us-gov-east-1.amazonaws.com");
  CHECK(aws_host("sagemaker", "us-west-2", true) == "api-fips.sagemaker.us-west-2.amazonaws.com");
  CHECK(aws_host("sagemaker", "cn-north-1", false) == "api.sagemaker.cn-north-1.amazonaws.com.cn");
  const Address own = own_address(*parse_endpoint("http://h:1/base"), "bucket");
  CHECK(own.host == "h:1");
  CHECK(own.path == "/base/bucket/");
  CHECK(is_region("us-gov-west-1"));
  CHECK_FALSE(is_region("evil.example.com/"));
  CHECK_FALSE(is_region(""));
}
