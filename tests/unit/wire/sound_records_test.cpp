// SPDX-License-Identifier: Apache-2.0

#include "base/crc32c_instruction.hpp"
#include "wire/framing.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

using namespace smd::detail;

namespace {

std::string record(std::size_t length) {
  std::string payload;
  for (std::size_t i = 0; i < length; ++i) {
    payload.push_back(static_cast<char>(7 * i + length));
  }
  std::string bytes;
  wire::append_record(bytes, std::as_bytes(std::span(payload)), wire::Protection::checksum);
  return bytes;
}

std::size_t sound(const std::string& bytes) { return wire::short_sound_records(std::as_bytes(std::span(bytes))); }

bool is_supported() {
#if defined(SMD_TARGET_CRC)
  return has_crc_instruction();
#else
  return false;
#endif
}

}  // namespace

TEST_CASE("sound records: of every short length, whole ones only") {
  std::string bytes;
  for (std::size_t length = 0; length < 256; ++length) {
    bytes += record(length);
  }
  const std::size_t all = is_supported() ? bytes.size() : 0;
  CHECK(sound(bytes) == all);
  CHECK(sound(bytes + record(256)) == all);
  CHECK(sound(bytes.substr(0, bytes.size() - 1)) == (is_supported() ? bytes.size() - 255 - wire::frame_bytes : 0));
  CHECK(sound({}) == 0);
}

TEST_CASE("sound records: up to a record with any wrong bit") {
  const std::string first = record(20);
  const std::size_t before = is_supported() ? first.size() : 0;
  const std::string second = record(37);
  for (std::size_t bit = 0; bit < 8 * second.size(); ++bit) {
    std::string bytes = first + second + first;
    bytes[first.size() + bit / 8] = static_cast<char>(bytes[first.size() + bit / 8] ^ (1 << bit % 8));
    REQUIRE(sound(bytes) == before);
  }
}

TEST_CASE("sound records of any length: up to a damaged or cut one") {
  const std::string before = record(20) + record(3000) + record(0) + record(40);
  const auto all = [](const std::string& bytes) { return wire::sound_records(std::as_bytes(std::span(bytes))); };
  CHECK(all({}) == 0);
  CHECK(all(before) == before.size());
  std::string unprotected;
  wire::append_record(unprotected, {}, wire::Protection::unprotected);
  CHECK(all(before + unprotected + before) == before.size());
  const std::string last = record(300);
  for (std::size_t size = 0; size < last.size(); ++size) {
    REQUIRE(all(before + last.substr(0, size)) == before.size());
  }
  for (std::size_t at = 0; at < last.size(); ++at) {
    std::string damaged = last;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    REQUIRE(all(before + damaged + last) == before.size());
  }
}
