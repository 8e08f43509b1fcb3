// SPDX-License-Identifier: Apache-2.0
#include "s3/signing.hpp"

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>

#include "s3/uri.hpp"
#include "text/trim.hpp"
#include "text/words.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

/// Removes blanks at the ends, and reduces inner ones to single blanks.
std::string folded(std::string_view value) {
  std::string text(text::trimmed(value, " \t"));
  std::ranges::replace(text, '\t', ' ');
  text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
  return text;
}

}  // namespace

Digest sha256(std::string_view text) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view text) {
  Digest digest{};
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), digest.data(), &length);
  return digest;
}

std::string hex(const Digest& digest) { return fmt::format("{:02x}", fmt::join(digest, "")); }

void sign(Signable& request, const Credentials& credentials, std::string_view region, std::string_view service,
          std::chrono::system_clock::time_point now) {
  const bool s3 = service == "s3";
  const std::string stamp = fmt::format("{:%Y%m%dT%H%M%SZ}", std::chrono::floor<std::chrono::seconds>(now));
  const std::string body_digest = hex(sha256(request.body));
  request.headers.push_back({"x-amz-date", stamp});
  if (s3) {
    request.headers.push_back({"x-amz-content-sha256", body_digest});
  }
  if (!credentials.token.empty()) {
    request.headers.push_back({"x-amz-security-token", credentials.token});
  }

  std::vector<HttpHeader> signed_headers = request.headers;
  signed_headers.push_back({"host", request.host});
  std::ranges::sort(signed_headers, {}, &HttpHeader::name);
  std::string lines;
  for (const HttpHeader& header : signed_headers) {
    lines += header.name + ":" + folded(header.value) + "\n";
  }
  const std::string names = text::joined(signed_headers, ";", &HttpHeader::name);
  // S3 uses the path unchanged; other services encode it once more.
  const std::string path = s3 ? request.path : uri_encode(request.path, true);
  const std::string canonical =
      request.method + "\n" + path + "\n" + request.query + "\n" + lines + "\n" + names + "\n" + body_digest;

  const std::string date = stamp.substr(0, 8);
  const std::string scope = date + "/" + std::string(region) + "/" + std::string(service) + "/aws4_request";
  const std::string text = std::string(algorithm) + "\n" + stamp + "\n" + scope + "\n" + hex(sha256(canonical));
  Digest key = hmac_sha256("AWS4" + credentials.secret, date);
  for (const std::string_view part : {region, service, std::string_view("aws4_request")}) {
    key = hmac_sha256(bytes_of(key), part);
  }
  request.headers.push_back({"authorization", std::string(algorithm) + " Credential=" + credentials.key_id + "/" +
                                                  scope + ", SignedHeaders=" + names +
                                                  ", Signature=" + hex(hmac_sha256(bytes_of(key), text))});
}

}  // namespace smd::detail::storage::s3
