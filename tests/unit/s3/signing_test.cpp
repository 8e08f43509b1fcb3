// SPDX-License-Identifier: Apache-2.0
#include "s3/signing.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "s3/uri.hpp"

using namespace smd::detail::storage::s3;

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<std::pair<std::string, std::string>> pairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> result;
  if (text.empty()) {
    return result;
  }
  for (const std::string& part : split(text, '&')) {
    const std::size_t equals = part.find('=');
    result.emplace_back(uri_decode(part.substr(0, equals)), uri_decode(part.substr(equals + 1)));
  }
  return result;
}

std::string header(const Signable& request, std::string_view name) {
  for (const HttpHeader& each : request.headers) {
    if (each.name == name) {
      return each.value;
    }
  }
  return {};
}

std::chrono::system_clock::time_point at(long long seconds) {
  return std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
}

// docs.aws.amazon.com, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk".
const Credentials published{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
constexpr long long published_time = 1369353600;  // 2013-05-24 00:00:00 UTC

}  // namespace

TEST_CASE("s3: digests") {
  // FIPS 180-2, B.1; RFC 4231, test case 2.
  CHECK(hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("s3: AWS's published examples") {
  Signable get{"GET", "examplebucket.s3.amazonaws.com", "/test.txt", "", {{"range", "bytes=0-9"}}, ""};
  sign(get, published, "us-east-1", "s3", at(published_time));
  CHECK(header(get, "authorization") ==
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");

  Signable lifecycle{"GET", "examplebucket.s3.amazonaws.com", "/", canonical_query({{"lifecycle", ""}}), {}, ""};
  sign(lifecycle, published, "us-east-1", "s3", at(published_time));
  CHECK(header(lifecycle, "authorization")
            .ends_with("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));

  Signable list{"GET", "examplebucket.s3.amazonaws.com", "/", canonical_query({{"prefix", "J"}, {"max-keys", "2"}}), {},
                ""};
  sign(list, published, "us-east-1", "s3", at(published_time));
  CHECK(header(list, "authorization")
            .ends_with("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST_CASE("s3: a thousand signatures as botocore makes them") {
  std::ifstream file(SMD_SIGNATURE_VECTORS);
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    std::vector<std::string> fields = split(line, '\t');
    REQUIRE(fields.size() == 14);
    for (std::string& field : fields) {
      field = uri_decode(field);
    }
    Signable request{fields[0], fields[1], fields[2], canonical_query(pairs(fields[3])), {}, fields[5]};
    for (auto& [name, value] : pairs(fields[4])) {
      request.headers.push_back({name, value});
    }
    sign(request, {fields[6], fields[7], fields[8]}, fields[9], fields[10], at(std::stoll(fields[11])));
    const std::string authorization = header(request, "authorization");
    CHECK(authorization.ends_with(", SignedHeaders=" + fields[12] + ", Signature=" + fields[13]));
  }
  CHECK(count == 1000);
}
