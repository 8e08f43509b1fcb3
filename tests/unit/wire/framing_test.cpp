// SPDX-License-Identifier: Apache-2.0
#include "wire/framing.hpp"

#include "hex.hpp"
#include "text/limits.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace smd;
using namespace smd::detail::wire;
using namespace smd::test;

namespace {

std::string random_bytes(std::mt19937_64& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) {
    c = static_cast<char>(random());
  }
  return bytes;
}

std::string record_of(std::string_view payload, Protection protection) {
  std::string record;
  append_record(record, bytes_of(payload), protection);
  return record;
}

std::string flipped(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  return bytes;
}

}  // namespace

TEST_CASE("a record as in a recorded trial") {
  // strings, step 0, tensor `none`: 62 bytes of payload.
  const std::string bytes = from_hex(
      "3e00000000000000d9d240e7"
      "0900006040fc54d9412a330a310a046e6f6e65420c120a120812066e6f6e655f304a1b0a0e0a096d6f64655f737465701201300a090a046d"
      "6f6465120134"
      "b3c02d06");
  const auto record = next_record(bytes_of(bytes));
  REQUIRE(record);
  CHECK(record->payload.size() == 62);
  CHECK(record->protection == Protection::unprotected);
  CHECK(record_of(std::string_view(bytes).substr(12, 62), Protection::unprotected) == bytes);
}

TEST_CASE("each flipped header bit of 200 records is detected, at the right place") {
  std::mt19937_64 random(1);
  std::size_t silent = 0;
  for (int n = 0; n < 200; ++n) {
    const std::string record = record_of(random_bytes(random, random() % 300), Protection::unprotected);
    for (std::size_t bit = 0; bit < 8 * header_bytes; ++bit) {
      const std::string bad = flipped(record, bit);
      const auto result = next_record(bytes_of(bad));
      silent += result || result.problem().kind != ProblemKind::damaged || result.problem().offset != 8;
    }
  }
  CHECK(silent == 0);
}

TEST_CASE("each flipped bit of payload and footer is detected if the footer is a checksum") {
  std::mt19937_64 random(2);
  std::size_t silent = 0;
  for (int n = 0; n < 40; ++n) {
    const std::size_t size = random() % 200;
    const std::string record = record_of(random_bytes(random, size), Protection::checksum);
    REQUIRE(next_record(bytes_of(record)));
    CHECK(next_record(bytes_of(record))->protection == Protection::checksum);
    for (std::size_t bit = 8 * header_bytes; bit < 8 * record.size(); ++bit) {
      const auto result = next_record(bytes_of(flipped(record, bit)));
      silent += result || result.problem().kind != ProblemKind::damaged || result.problem().offset != 12 + size;
    }
  }
  CHECK(silent == 0);
}

TEST_CASE("under the magic footer flipped payload bits are not detected, flipped footer bits are") {
  const std::string record = record_of("payload", Protection::unprotected);
  for (std::size_t bit = 8 * header_bytes; bit < 8 * record.size(); ++bit) {
    CAPTURE(bit);
    CHECK(static_cast<bool>(next_record(bytes_of(flipped(record, bit)))) == (bit < 8 * (record.size() - 4)));
  }
}

TEST_CASE("cut at every byte: not yet") {
  for (const std::string& record :
       {record_of("some payload", Protection::checksum), record_of("", Protection::unprotected)}) {
    for (std::size_t size = 0; size < record.size(); ++size) {
      CAPTURE(size);
      const auto part = bytes_of(record).first(size);
      REQUIRE_FALSE(next_record(part));
      CHECK(next_record(part).problem().kind == ProblemKind::not_yet);
    }
    CHECK(next_record(bytes_of(record)));
    CHECK(next_record(bytes_of(record + "x")));
  }
}

TEST_CASE("impossible lengths with a correct checksum") {
  // 2^62 and 2^64-1, as in the damaged samples.
  for (const char* header : {"00000000000000407f85f000", "ffffffffffffffffa67b113a"}) {
    const auto length = parse_header(bytes_of(from_hex(header)));
    REQUIRE_FALSE(length);
    CHECK(length.problem().text.find("record_bytes") != std::string::npos);
  }
  for (const std::uint64_t length :
       {std::uint64_t{1} << 62, ~std::uint64_t{0}, limits::record_bytes + 1, std::uint64_t{1} << 40}) {
    CAPTURE(length);
    std::string header(8, '\0');
    for (int at = 0; at < 8; ++at) {
      header[static_cast<std::size_t>(at)] = static_cast<char>(length >> (8 * at));
    }
    // The checksum of these 8 bytes is the footer of a record that contains them.
    const std::string helper = record_of(header, Protection::checksum);
    const std::string record = header + helper.substr(helper.size() - 4) + std::string(40, 'x');
    const auto result = next_record(bytes_of(record));
    REQUIRE_FALSE(result);
    CHECK(result.problem().kind == ProblemKind::damaged);
    CHECK(result.problem().text.find("record_bytes") != std::string::npos);
  }
}

TEST_CASE("a payload checked block by block") {
  const std::string record = record_of("123456789", Protection::checksum);
  const auto footer = bytes_of(record).last<footer_bytes>();
  CHECK_FALSE(is_magic_footer(footer));
  CHECK(*check_footer_crc(footer, 0xE3069283u, 9) == Protection::checksum);  // the check value of CRC-32C
  const auto wrong = check_footer_crc(footer, 0xE3069282u, 9);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.problem().offset == 12 + 9);
  // The magic value is the masked checksum of this text.
  CHECK(is_magic_footer(bytes_of(record_of("0x12345678", Protection::checksum)).last<footer_bytes>()));
}
