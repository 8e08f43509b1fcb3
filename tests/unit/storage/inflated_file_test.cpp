// SPDX-License-Identifier: Apache-2.0
#include "storage/inflated_file.hpp"

#include "support/compressed.hpp"
#include "text/limits.hpp"
#include "unit/wire/hex.hpp"
#include "wire/first_bytes.hpp"
#include "wire/framing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::storage;
using namespace smd::detail::wire;
using namespace smd::test;

namespace {

/// A file of a function.
class FileOf final : public File {
 public:
  using ReadAt = std::function<Outcome<std::size_t>(std::uint64_t offset, std::span<std::byte> into)>;

  explicit FileOf(ReadAt read) : read_(std::move(read)) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return 0; }
  Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    return read_(offset, into);
  }

 private:
  ReadAt read_;
};

InflatedFile open(FileOf::ReadAt read, std::uint64_t most_again = limits::inflated_again_bytes) {
  return InflatedFile(std::make_unique<FileOf>(std::move(read)), most_again);
}

InflatedFile open(const std::string& file) {
  return open([&file](std::uint64_t offset, std::span<std::byte> into) -> Outcome<std::size_t> {
    const std::size_t size = offset < file.size() ? std::min<std::size_t>(into.size(), file.size() - offset) : 0;
    if (size != 0) {
      std::memcpy(into.data(), file.data() + offset, size);
    }
    return size;
  });
}

/// Exactly so many bytes; nullopt if there are fewer.
Outcome<std::optional<std::vector<std::byte>>> range_of(const InflatedFile& file, std::uint64_t start,
                                                        std::size_t length) {
  std::vector<std::byte> bytes(length);
  const auto got = file.read_at(start, bytes);
  if (!got) {
    return got.problem();
  }
  return *got == length ? std::optional(std::move(bytes)) : std::nullopt;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string noise(std::size_t size) {
  std::mt19937_64 random(11);
  std::string text(size, '\0');
  for (char& c : text) {
    c = static_cast<char>(random() % 7 + random() % 2 * 100);
  }
  return text;
}

}  // namespace

TEST_CASE("compressed files are recognised by their first bytes") {
  CHECK(looks_compressed(bytes_of(compressed("text", gzip))));
  CHECK(looks_compressed(bytes_of(compressed("text", zlib))));
  // Python: zlib.compress(b"", 0), (b"", 1), (b"", 6), (b"", 9)
  for (const char* head : {"7801", "785e", "789c", "78da"}) {
    CHECK(looks_compressed(bytes_of(from_hex(head))));
  }
  CHECK_FALSE(looks_compressed(bytes_of(from_hex("7802"))));  // 0x7802 is not a multiple of 31
  CHECK_FALSE(looks_compressed(bytes_of(from_hex("1f8b07"))));
  CHECK_FALSE(looks_compressed(bytes_of(from_hex("1f"))));
  CHECK_FALSE(looks_compressed({}));
  // A plain record of 0x0178 = 376 bytes begins like zlib's data; the checksum of its length decides.
  std::string plain;
  append_record(plain, bytes_of(std::string(0x178, 'p')), Protection::unprotected);
  CHECK(plain.substr(0, 2) == "\x78\x01");
  CHECK_FALSE(looks_compressed(bytes_of(plain)));
  CHECK(looks_compressed(bytes_of(compressed(plain, zlib))));
}

TEST_CASE("bytes that Python's gzip and zlib wrote") {
  // gzip.compress(b"hello, record\n" * 3, mtime=0), zlib.compress(the same)
  const std::string text = "hello, record\nhello, record\nhello, record\n";
  for (const char* hex : {"1f8b0800000000000203cb48cdc9c9d751284a4dce2f4ae1cac0c30300861794182a000000",
                          "789ccb48cdc9c9d751284a4dce2f4ae1cac0c3030042950ebc"}) {
    const std::string file = from_hex(hex);
    CHECK(looks_compressed(bytes_of(file)));
    const auto inflated = open(file);
    const auto all = range_of(inflated, 0, text.size());
    REQUIRE((all && *all));
    CHECK(text_of(**all) == text);
    CHECK_FALSE(*range_of(inflated, 1, text.size()));
    const auto part = range_of(inflated, 7, 6);
    REQUIRE((part && *part));
    CHECK(text_of(**part) == "record");
  }
}

TEST_CASE("ranges, forward and backward, in one member and in several") {
  const std::string text = noise(3'000'000);
  std::string members;
  for (std::size_t at = 0; at < text.size(); at += 700'000) {
    members += compressed(std::string_view(text).substr(at, 700'000), gzip) + compressed("", gzip);
  }
  for (const std::string& file : {compressed(text, gzip), compressed(text, zlib), members}) {
    const auto inflated = open(file);
    const auto all = range_of(inflated, 0, text.size());
    REQUIRE_MESSAGE(all, all.problem().text);
    CHECK(text_of(**all) == text);
    std::mt19937_64 random(3);
    for (int n = 0; n < 20; ++n) {
      const std::size_t start = random() % text.size();
      const std::size_t length = random() % (text.size() - start);
      const auto range = range_of(inflated, start, length);
      REQUIRE(range);
      CHECK(text_of(**range) == text.substr(start, length));
    }
    std::vector<std::byte> into(100);
    const auto last = inflated.read_at(text.size() - 40, into);
    REQUIRE(last);
    CHECK(*last == 40);
    const auto past = inflated.read_at(text.size() + 1000, into);
    REQUIRE(past);
    CHECK(*past == 0);
  }
}

TEST_CASE("a compressed file cut at every byte is not yet available, at its end") {
  const std::string text = noise(2000);
  for (const int format : {gzip, zlib}) {
    const std::string file = compressed(text, format);
    for (std::size_t size = 0; size < file.size(); ++size) {
      const std::string part = file.substr(0, size);
      CAPTURE(size);
      for (const std::size_t beyond : {0, 1}) {  // 0: what follows the last byte is read too
        const auto inflated = open(part);
        std::vector<std::byte> into(text.size() + beyond);
        const auto got = inflated.read_at(0, into);
        REQUIRE_FALSE(got);
        CHECK(got.problem().kind == ProblemKind::not_yet);
        CHECK(got.problem().text ==
              "compressed data is cut off at byte " + std::to_string(size) + " of the file itself");
      }
    }
  }
}

TEST_CASE("any flipped bit of a compressed file is damage or harmless") {
  const std::string text = noise(500);
  std::vector<std::byte> into(1 << 20);  // so that the end is reached and checked
  std::size_t harmless = 0;
  std::size_t damage = 0;
  for (const int format : {gzip, zlib}) {
    std::string file = compressed(text, format);
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
      file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << (bit % 8)));
      const auto inflated = open(file);
      const auto got = inflated.read_at(0, into);
      if (got) {
        ++harmless;  // time, operating system and so on in gzip's header
        CHECK(std::string_view(reinterpret_cast<const char*>(into.data()), *got) == text);
      } else {
        ++damage;
        const ProblemKind kind = got.problem().kind;
        const bool told = kind == ProblemKind::damaged || kind == ProblemKind::not_yet;  // not_yet: a block that never
                                                                                         // ends
        CHECK(told);
      }
      file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << (bit % 8)));
    }
  }
  CHECK(harmless > 0);
  CHECK(harmless < 8 * 10);  // gzip's header is ten bytes
  CHECK(damage > 1000);
}

TEST_CASE("data after the compressed stream is damage") {
  for (const std::string& file : {compressed("text", gzip) + "x", compressed("text", zlib) + "x",
                                  compressed("text", zlib) + compressed("more", zlib)}) {
    const auto inflated = open(file);
    std::vector<std::byte> into(10);
    const auto got = inflated.read_at(0, into);
    REQUIRE_FALSE(got);
    CHECK(got.problem().text.starts_with("bytes after the end of the compressed data at byte "));
  }
}

TEST_CASE("a failed read is reported, and the next one starts again") {
  const std::string file = compressed("text", gzip);
  bool fail = true;
  const InflatedFile inflated = open([&](std::uint64_t offset, std::span<std::byte> into) -> Outcome<std::size_t> {
    if (fail) {
      return Problem{ProblemKind::io, "f", 1, "no luck"};
    }
    const std::size_t size = std::min<std::size_t>(into.size(), file.size() - offset);
    std::memcpy(into.data(), file.data() + offset, size);
    return size;
  });
  std::vector<std::byte> into(4);
  const auto first = inflated.read_at(0, into);
  REQUIRE_FALSE(first);
  CHECK(first.problem() == Problem{ProblemKind::io, "f", {}, "no luck at byte 1 of the file itself"});
  fail = false;
  const auto second = inflated.read_at(0, into);
  REQUIRE(second);
  CHECK(*second == 4);
}

TEST_CASE("seeking backward inflates only from the last restart place") {
  const std::string text = noise(24 << 20);
  const std::string file = compressed(text, gzip);
  std::uint64_t fed = 0;
  const InflatedFile inflated = open([&](std::uint64_t offset, std::span<std::byte> into) -> Outcome<std::size_t> {
    const std::size_t size = std::min<std::size_t>(into.size(), file.size() - offset);
    std::memcpy(into.data(), file.data() + offset, size);
    fed += size;
    return size;
  });
  constexpr std::size_t piece = 4096;
  constexpr std::size_t pieces = 96;
  for (std::size_t n = pieces; n > 0; --n) {
    const std::size_t start = n * (text.size() / pieces) - piece;
    const auto range = range_of(inflated, start, piece);
    REQUIRE_MESSAGE(range, range.problem().text);
    CHECK(text_of(**range) == text.substr(start, piece));
  }
  // One full pass, and then for each piece the compressed size of at most two megabytes, plus one read block. Starting
  // from the beginning each time would read half the file for each piece: 48 times its length.
  const std::uint64_t megabyte = file.size() / 24;
  CHECK(fed <= file.size() + pieces * (2 * megabyte + (std::uint64_t{64} << 10)));
  CHECK(fed <= 12 * file.size());
}

TEST_CASE("the distance of restart places grows with their number") {
  std::string text(std::size_t{300} << 20, '\0');  // more megabytes than restart places
  for (std::size_t at = 0; at < text.size(); at += 1000) {
    text[at] = static_cast<char>(at / 1000 % 251);
  }
  const std::string file = compressed(text, zlib);
  const auto inflated = open(file);
  for (std::size_t megabytes = 299; megabytes > 13; megabytes -= 13) {
    const auto range = range_of(inflated, megabytes << 20, 2000);
    REQUIRE(range);
    CHECK(text_of(**range) == text.substr(megabytes << 20, 2000));
  }
}

TEST_CASE("a file that is inflated too often is refused") {
  const std::string text = noise(100'000);
  const std::string file = compressed(text, gzip);
  constexpr std::uint64_t most_again = 10'000'000;  // 100 times
  const InflatedFile inflated = open(
      [&file](std::uint64_t offset, std::span<std::byte> into) -> Outcome<std::size_t> {
        const std::size_t size = std::min<std::size_t>(into.size(), file.size() - offset);
        std::memcpy(into.data(), file.data() + offset, size);
        return size;
      },
      most_again);
  std::vector<std::byte> into(text.size());
  for (int pass = 0; pass < 101; ++pass) {  // the first pass, and 100 more
    REQUIRE(inflated.read_at(0, into));
  }
  const auto refused = inflated.read_at(0, into);
  REQUIRE_FALSE(refused);
  CHECK(refused.problem().kind == ProblemKind::damaged);
  CHECK(refused.problem().text.find("(limit inflated_passes)") != std::string::npos);
}
