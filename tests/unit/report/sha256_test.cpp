// SPDX-License-Identifier: Apache-2.0
#include "report/sha256.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using smd::tool::report::sha256;

namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

}  // namespace

// FIPS 180-2, appendix B: "abc", and a message of two blocks; the digest of nothing is well known.
TEST_CASE("SHA-256 of the examples in the standard") {
  CHECK(hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  // NIST's further vectors: a message of two whole blocks, and zero bytes of lengths about where the padding takes
  // another.
  CHECK(hex(sha256(
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqr"
            "stnopqrstu")) == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(hex(sha256(std::string(55, '\0'))) == "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  CHECK(hex(sha256(std::string(56, '\0'))) == "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
  CHECK(hex(sha256(std::string(57, '\0'))) == "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
  CHECK(hex(sha256(std::string(64, '\0'))) == "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
  CHECK(hex(sha256(std::string(1000000, 'a'))) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
