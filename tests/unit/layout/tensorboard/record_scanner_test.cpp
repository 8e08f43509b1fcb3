// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/record_scanner.hpp"
#include "support/temp_dir.hpp"
#include "text/limits.hpp"
#include "wire/framing.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace smd::detail;
using Scanner = layout::RecordScanner;
using Found = Scanner::Found;

namespace {

std::string record(const std::string& payload, wire::Protection protection = wire::Protection::checksum) {
  std::string bytes;
  wire::append_record(bytes, std::as_bytes(std::span(payload)), protection);
  return bytes;
}

/// What scanning a file of these bytes gives: sound payloads as they are, else what it found and where.
std::vector<std::string> scan(const std::string& bytes, std::uint64_t from = 0, unsigned jobs = 1) {
  const smd::test::TempDir dir;
  dir.write("f", bytes);
  const auto storage = storage::open_local(dir.path());
  const auto file = (*storage)->open("f");
  REQUIRE(file);
  Scanner scanner(**file, from, false, jobs);
  std::vector<std::string> all;
  while (true) {
    const Found found = scanner.next();
    const std::string at = "@" + std::to_string(scanner.offset());
    if (found == Found::record) {
      const auto payload = scanner.payload();
      all.emplace_back(std::string(reinterpret_cast<const char*>(payload.data()), payload.size()) + at);
      CHECK(scanner.length() == payload.size() + wire::frame_bytes);
      continue;
    }
    if (found != Found::end) {
      CHECK(scanner.problem().offset == scanner.offset());
      CHECK(scanner.problem().kind == smd::ProblemKind::damaged);
    }
    all.push_back((found == Found::damaged      ? "damaged"
                   : found == Found::lost       ? "lost"
                   : found == Found::compressed ? "compressed"
                   : found == Found::cut        ? "cut"
                                                : "end") +
                  at);
    if (found != Found::damaged) {
      return all;
    }
  }
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("records one after another, from any of them on") {
  const std::string bytes = record("one") + record("") + record("three");
  CHECK(scan(bytes) == Texts{"one@0", "@19", "three@35", "end@56"});
  CHECK(scan(bytes, 35) == Texts{"three@35", "end@56"});
  CHECK(scan(bytes, 56) == Texts{"end@56"});
  CHECK(scan("") == Texts{"end@0"});
}

TEST_CASE("a damaged payload or length costs its record") {
  std::string bytes = record("one") + record("two") + record("three");
  const Texts expected{"one@0", "damaged@19", "three@38", "end@59"};
  bytes[19 + 12] ^= 1;
  CHECK(scan(bytes) == expected);
  bytes[19] ^= 1;
  CHECK(scan(bytes) == expected);
  const std::string unprotected = record("two", wire::Protection::unprotected);
  CHECK(scan(record("one") + unprotected + record("three")) == expected);
  CHECK(scan(record("one") + record(std::string(300, 'b')) + unprotected) ==
        Texts{"one@0", std::string(300, 'b') + "@19", "damaged@335", "end@354"});
  CHECK(scan(record("one") + std::string(300, '\0')) == Texts{"one@0", "lost@19"});
}

TEST_CASE("what is no record is passed over, up to the next sound one of which both checksums are right") {
  const auto passed_over = [](const std::string& junk, unsigned jobs = 1) {
    const std::string after = std::to_string(19 + junk.size());
    const std::string end = std::to_string(19 + junk.size() + 21);
    return scan(record("one") + junk + record("three"), 0, jobs) ==
           Texts{"one@0", "damaged@19", "three@" + after, "end@" + end};
  };
  CHECK(passed_over(std::string(1, 'x')));
  CHECK(passed_over(std::string(4096, '\0')));
  CHECK(passed_over("x" + record("unprotected", wire::Protection::unprotected)));
  std::string no_payload = record("two");
  no_payload[14] ^= 1;
  CHECK(passed_over("x" + no_payload));
  CHECK(passed_over("x" + record(std::string(300, 'b')).substr(0, 60)));  // claims more than there is
  CHECK(passed_over(std::string(3'000'000, 'x')));
  CHECK(passed_over(std::string(9'000'000, '\0'), 2));
  CHECK(passed_over(std::string(smd::limits::searched_bytes - 1, '\0')));
  CHECK(scan(record("one") + std::string(smd::limits::searched_bytes, '\0') + record("three")) ==
        Texts{"one@0", "lost@19"});
  const std::string compressed = "\x1F\x8B\x08\0 and so on";
  CHECK(scan(compressed + record("three")).front() == "compressed@0");
  CHECK(passed_over(compressed));
}

TEST_CASE("the search for a record takes bounded work, whatever the bytes claim") {
  std::string bytes("x");
  std::string header = record(std::string(8'000'000, 'b')).substr(0, wire::header_bytes);
  for (int i = 0; i < 1'000; ++i) {
    bytes += header;
  }
  bytes.resize(8'100'000);
  CHECK(scan(bytes + record("three")) == Texts{"lost@0"});
}

TEST_CASE("a file that ends within a record, at each of its bytes") {
  const std::string bytes = record("one") + record("two");
  for (std::size_t size = 20; size < bytes.size(); ++size) {
    CHECK(scan(bytes.substr(0, size)) == Texts{"one@0", "cut@19"});
  }
}

TEST_CASE("records longer than a block, and across the ends of blocks") {
  std::string bytes;
  Texts expected;
  for (int i = 0; i < 40; ++i) {
    const std::string payload(static_cast<std::size_t>(i % 3 == 0 ? 300'000 + i : 40'000 + 7 * i),
                              static_cast<char>('a' + i % 26));
    expected.push_back(payload + "@" + std::to_string(bytes.size()));
    bytes += record(payload);
  }
  expected.push_back("end@" + std::to_string(bytes.size()));
  CHECK(scan(bytes) == expected);
}

TEST_CASE("a long file that another thread reads ahead") {
  const auto check = [](std::size_t shorter, std::size_t longer, std::size_t sound_bytes) {
    std::string bytes;
    Texts expected;
    for (std::size_t i = 0; bytes.size() < std::size_t{5} << 20; ++i) {
      const bool is_longer = i % 1000 == 999;
      const bool damaged = bytes.size() >= sound_bytes && i % 777 == 0;
      const std::string payload(is_longer ? longer : shorter + i % 50, static_cast<char>('a' + i % 26));
      expected.push_back((damaged ? "damaged" : payload) + "@" + std::to_string(bytes.size()));
      bytes += record(payload);
      if (damaged) {
        bytes.back() ^= 1;
      }
    }
    const std::string end = std::to_string(bytes.size());
    CHECK(scan(bytes + "cut", 0, 2) == [&] {
      Texts all = expected;
      all.push_back("cut@" + end);
      return all;
    }());
    expected.push_back("end@" + end);
    CHECK(scan(bytes, 0, 2) == expected);
    const std::size_t first = 16 + shorter;
    CHECK(scan(bytes, first, 2) == Texts(expected.begin() + 1, expected.end()));
  };
  constexpr std::size_t never = -1;
  for (const std::size_t sound_bytes : {std::size_t{0}, std::size_t{3} << 20, never}) {
    check(40, 3000, sound_bytes);
    check(200, 20'000, sound_bytes);    // longer than the margin of a block
    check(1000, 600'000, sound_bytes);  // longer than a block
  }
}

TEST_CASE("a record above 1 MiB is checked in blocks; what is large in it is passed over, as is what is damaged") {
  const std::string large("\xA2\x06\x80\x80\x80\x01");  // field 100, 2 MiB
  std::string bytes = record("one") + record("\x10\x07" + large + std::string(std::size_t{2} << 20U, 'x'));
  const std::size_t end = bytes.size();
  for (const bool sound : {true, false}) {
    const smd::test::TempDir dir;
    bytes[end - 1] ^= sound ? 0 : 1;
    dir.write("f", bytes + record("three"));
    const auto storage = storage::open_local(dir.path());
    const auto file = (*storage)->open("f");
    REQUIRE(file);
    Scanner scanner(**file, 0, false);
    REQUIRE(scanner.next() == Found::record);
    CHECK(scanner.next() == (sound ? Found::record : Found::damaged));
    CHECK(scanner.offset() == 19);
    CHECK(scanner.length() == end - 19);
    CHECK((!sound || scanner.payload().size() < 20));
    CHECK(scanner.sound_records().empty());  // more was passed over than is in memory
    REQUIRE(scanner.next() == Found::record);
    CHECK(scanner.offset() == end);
    CHECK(scanner.payload().size() == 5);
    CHECK(scanner.next() == Found::end);
  }
}
