// SPDX-License-Identifier: Apache-2.0
#include "trial/record_reader.hpp"

#include "support/compressed.hpp"
#include "support/temp_dir.hpp"
#include "wire/encode.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

namespace smd::test {
namespace {

using detail::trial::RecordReader;
using detail::wire::Protection;

/// Records in one event file, with where each lies.
class EventFile {
 public:
  TensorLocation add(std::string_view tag, Dtype dtype, const Shape& shape, std::span<const std::byte> elements,
                     Protection protection = Protection::unprotected) {
    std::string event;
    detail::wire::append_event(event, {.tag = tag, .wall_time = 12.5, .mode_step = {}, .mode = {}},
                               TensorView(dtype, shape, elements));
    const std::size_t start = bytes.size();
    detail::wire::append_record(bytes, std::as_bytes(std::span(event)), protection);
    return {name, start, bytes.size() - start};
  }

  std::string bytes;
  std::string name = "events/e";
};

/// A storage of one folder, and readers of it.
struct Store {
  explicit Store(const EventFile& file) { write(file.name, file.bytes); }
  void write(const std::string& name, std::string_view bytes) {
    dir.write(name, bytes);
    auto opened = detail::storage::open_local(dir.path());
    REQUIRE(opened);
    storage = *std::move(opened);
  }
  [[nodiscard]] RecordReader reader(bool verify = true) const { return {*storage, verify}; }

  TempDir dir;
  std::unique_ptr<detail::storage::Storage> storage;
};

std::vector<std::byte> noise(std::size_t bytes, unsigned most = 255) {
  std::mt19937 random(7);
  std::vector<std::byte> result(bytes);
  for (std::byte& byte : result) {
    byte = static_cast<std::byte>(random() % (most + 1));
  }
  return result;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

class Gather final : public BlockSink {
 public:
  bool begin(Dtype in_dtype, const Shape& in_shape) override {
    ++begins;
    dtype = in_dtype;
    shape = in_shape;
    return true;
  }
  bool block(std::span<const std::byte> block) override {
    ++blocks;
    largest = std::max(largest, block.size());
    bytes.insert(bytes.end(), block.begin(), block.end());
    return blocks != stop_after;
  }

  int begins = 0;
  int blocks = 0;
  int stop_after = 0;
  std::size_t largest = 0;
  Dtype dtype = Dtype::float32;
  Shape shape;
  std::vector<std::byte> bytes;
};

constexpr std::size_t megabyte = 1'000'000;

}  // namespace

TEST_CASE("a large record: value, blocks, and type and shape alone") {
  const std::vector<std::byte> elements = noise(3 * megabyte);
  const Shape shape = {2, 375'000};  // of 4 bytes each
  for (const Protection protection : {Protection::unprotected, Protection::checksum}) {
    EventFile file;
    const TensorLocation small = file.add("small", Dtype::float32, {}, noise(4));
    const TensorLocation large = file.add("large", Dtype::float32, shape, elements, protection);
    const Store store(file);
    for (const bool verify : {true, false}) {
      RecordReader reader = store.reader(verify);
      const auto value = reader.read(large, "large");
      REQUIRE(value);
      CHECK(value->value.dtype() == Dtype::float32);
      CHECK(value->value.shape() == shape);
      CHECK(same(value->value.bytes(), elements));
      CHECK(value->wall_time == 12.5);
      CHECK(value->has_checksum == (protection == Protection::checksum));

      Gather gather;
      REQUIRE(reader.stream(large, "large", gather));
      CHECK(gather.begins == 1);
      CHECK(gather.shape == shape);
      CHECK(same(gather.bytes, elements));
      CHECK(gather.blocks > 5);  // in blocks indeed
      CHECK(gather.largest % 4 == 0);

      const auto peeked = reader.peek(large, "large");
      REQUIRE(peeked);
      CHECK(peeked->value.shape() == shape);
      CHECK(peeked->value.bytes().empty());
      CHECK(reader.peek(small, "small")->value.shape().empty());
      CHECK(reader.read(small, "small")->value.bytes().size() == 4);
    }
  }
}

TEST_CASE("a sink ends the blocks when it likes") {
  EventFile file;
  const TensorLocation large = file.add("large", Dtype::uint8, {3'000'000}, noise(3 * megabyte));
  const Store store(file);
  RecordReader reader = store.reader();
  Gather gather;
  gather.stop_after = 2;
  CHECK(reader.stream(large, "large", gather));
  CHECK(gather.blocks == 2);
}

TEST_CASE("a flipped bit of a large checked record is damage before any block") {
  const std::vector<std::byte> elements = noise(3 * megabyte);
  EventFile file;
  const TensorLocation large = file.add("large", Dtype::uint8, {3'000'000}, elements, Protection::checksum);
  const std::size_t content = file.bytes.size() - 4 - elements.size();  // elements, then the footer
  REQUIRE(std::memcmp(file.bytes.data() + content, elements.data(), elements.size()) == 0);
  for (const std::size_t at : {content, content + 500'000, file.bytes.size() - 5}) {
    EventFile flipped = file;
    flipped.bytes[at] = static_cast<char>(flipped.bytes[at] ^ 0x10);
    const Store store(flipped);
    RecordReader reader = store.reader();
    CAPTURE(at);
    const auto value = reader.read(large, "large");
    REQUIRE_FALSE(value);
    CHECK(value.problem().kind == ProblemKind::damaged);
    CHECK(value.problem().file == file.name);
    CHECK(value.problem().offset == file.bytes.size() - 4);  // of the footer, which does not agree
    Gather gather;
    const auto status = reader.stream(large, "large", gather);
    REQUIRE_FALSE(status);
    CHECK(status.problem() == value.problem());
    CHECK(gather.begins == 0);
    CHECK(gather.blocks == 0);
    RecordReader trusting = store.reader(false);
    CHECK(trusting.read(large, "large"));
  }
}

TEST_CASE("bytes of booleans other than 0 and 1 come out as 1, whole and in blocks") {
  for (const std::size_t size : {std::size_t{100}, megabyte}) {
    const std::vector<std::byte> elements = noise(size, 3);
    std::vector<std::byte> expected(size);
    std::transform(elements.begin(), elements.end(), expected.begin(),
                   [](std::byte byte) { return byte == std::byte{0} ? byte : std::byte{1}; });
    EventFile file;
    const auto count = static_cast<std::int64_t>(size);
    TensorLocation place = file.add("uint8", Dtype::uint8, {count}, elements);
    // The writer knows no such booleans: written as bytes, then called booleans (types 4 and 10, in a field of its
    // own).
    const std::size_t type = file.bytes.find("\x08\x04\x12");
    REQUIRE(type != std::string::npos);
    file.bytes[type + 1] = 10;
    const Store store(file);
    RecordReader reader = store.reader();
    const auto value = reader.read(place, "uint8");
    REQUIRE(value);
    CHECK(value->value.dtype() == Dtype::boolean);
    CHECK(same(value->value.bytes(), expected));
    Gather gather;
    REQUIRE(reader.stream(place, "uint8", gather));
    CHECK(same(gather.bytes, expected));
  }
}

TEST_CASE("a large record of a compressed file comes in blocks") {
  const std::vector<std::byte> elements = noise(12 * megabyte);
  for (const Protection protection : {Protection::unprotected, Protection::checksum}) {
    EventFile file;
    const TensorLocation before = file.add("before", Dtype::float32, {}, noise(4));
    const TensorLocation large = file.add("large", Dtype::uint8, {12 * megabyte}, elements, protection);
    EventFile packed;
    packed.bytes = compressed(file.bytes, gzip);
    const Store store(packed);
    for (const bool known : {false, true}) {  // that it is compressed
      RecordReader reader = store.reader();
      if (known) {
        REQUIRE(reader.read(before, "before"));
      }
      Gather gather;
      const auto streamed = reader.stream(large, "large", gather);
      REQUIRE_MESSAGE(streamed, streamed.problem().text);
      CHECK(same(gather.bytes, elements));
      CHECK(gather.blocks > 5);
      const auto value = reader.read(large, "large");
      REQUIRE(value);
      CHECK(same(value->value.bytes(), elements));
      CHECK(reader.peek(large, "large")->value.shape() == Shape{12 * megabyte});
    }
  }
}

TEST_CASE("the header of a compressed record is compared with the index first") {
  EventFile file;
  const TensorLocation sound = file.add("t", Dtype::uint8, {1000}, noise(1000));
  file.bytes.append(20 * megabyte, '\0');  // a range that is all there, but no record
  EventFile packed;
  packed.bytes = compressed(file.bytes, gzip);
  const Store store(packed);
  RecordReader reader = store.reader();
  const auto problem = [&](std::uint64_t offset, std::uint64_t length) {
    const auto read = reader.read({packed.name, offset, length}, "t");
    REQUIRE_FALSE(read);
    CHECK(read.problem().kind == ProblemKind::damaged);
    return read.problem().text;
  };
  REQUIRE(reader.read(sound, "t"));
  CHECK(problem(0, 15 * megabyte) == "record of " + std::to_string(sound.length) +
                                         " bytes does not fill its range of 15000000 (in the inflated stream)");
  CHECK(problem(sound.length, 15 * megabyte) == "checksum of the record's length is wrong (in the inflated stream)");
  CHECK(problem(0, 5) == "5 bytes are too few for a record (in the inflated stream)");
}

TEST_CASE("compressed event files are read at inflated offsets, in any order") {
  const std::vector<std::byte> large = noise(megabyte);
  EventFile file;
  const std::vector<TensorLocation> places = {file.add("a", Dtype::uint8, {4}, noise(4), Protection::checksum),
                                              file.add("large", Dtype::uint8, {1'000'000}, large),
                                              file.add("z", Dtype::uint8, {9}, noise(9))};
  for (const int format : {gzip, MAX_WBITS}) {
    EventFile packed = file;
    packed.bytes = compressed(file.bytes, format);
    const Store store(packed);
    RecordReader reader = store.reader();
    for (const int i : {2, 0, 1, 2, 1, 0}) {
      const char* const tags[] = {"a", "large", "z"};
      const auto value = reader.read(places[static_cast<std::size_t>(i)], tags[i]);
      CAPTURE(i);
      REQUIRE(value);
      CHECK(value->value.bytes().size() == (i == 0 ? 4 : i == 1 ? megabyte : 9));
    }
    CHECK(same(reader.read(places[1], "large")->value.bytes(), large));
    Gather gather;
    REQUIRE(reader.stream(places[1], "large", gather));
    CHECK(same(gather.bytes, large));
    CHECK(reader.peek(places[1], "large")->value.shape() == Shape{1'000'000});

    TensorLocation off = places[2];
    off.offset += 3;
    const auto wrong = reader.read(off, "z");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.problem().kind == ProblemKind::damaged);
    CHECK(reader.read(places[0], "a"));  // and the reader goes on

    EventFile cut = packed;
    cut.bytes.resize(packed.bytes.size() / 2);
    const Store half(cut);
    RecordReader half_reader = half.reader();
    CHECK(half_reader.read(places[0], "a"));
    const auto missing = half_reader.read(places[2], "z");
    REQUIRE_FALSE(missing);
    CHECK(missing.problem().kind == ProblemKind::not_yet);
    CHECK(missing.problem().offset == places[2].offset);
  }
}

TEST_CASE("a record of another tensor is refused, large or small") {
  EventFile file;
  const TensorLocation small = file.add("other", Dtype::uint8, {4}, noise(4));
  const TensorLocation large = file.add("other", Dtype::uint8, {1'000'000}, noise(megabyte));
  const Store store(file);
  RecordReader reader = store.reader();
  for (const TensorLocation& place : {small, large}) {
    Gather gather;
    for (const auto& problem : {reader.read(place, "mine").problem(), reader.peek(place, "mine").problem(),
                                reader.stream(place, "mine", gather).problem()}) {
      CHECK(problem.kind == ProblemKind::damaged);
      CHECK(problem.file == file.name);
      CHECK(problem.offset >= place.offset);
      CHECK(problem.text.find("other") != std::string::npos);
    }
    CHECK(gather.begins == 0);
  }
}

TEST_CASE("a file that ends before the record does: not there yet; the caller decides") {
  EventFile file;
  file.add("first", Dtype::uint8, {4}, noise(4));
  const TensorLocation second = file.add("second", Dtype::uint8, {40}, noise(40));
  const std::string whole = file.bytes;
  for (std::size_t size = second.offset; size < whole.size(); ++size) {
    file.bytes = whole.substr(0, size);
    const Store store(file);
    RecordReader reader = store.reader();
    const auto value = reader.read(second, "second");
    CAPTURE(size);
    REQUIRE_FALSE(value);
    CHECK(value.problem().kind == ProblemKind::not_yet);
    CHECK(value.problem().offset == second.offset);
  }
}

TEST_CASE("ranges that no file holds cost no memory") {
  EventFile file;
  file.add("a", Dtype::uint8, {4}, noise(4));
  const Store store(file);
  RecordReader reader = store.reader();
  constexpr std::uint64_t most = ~std::uint64_t{0};
  for (const TensorLocation& place :
       {TensorLocation{file.name, 0, most}, TensorLocation{file.name, most, most}, TensorLocation{file.name, most, 1},
        TensorLocation{file.name, 1, std::uint64_t{1} << 40}, TensorLocation{file.name, 0, 0},
        TensorLocation{file.name, 0, 15}}) {
    Gather gather;
    CHECK_FALSE(reader.read(place, "a"));
    CHECK_FALSE(reader.peek(place, "a"));
    CHECK_FALSE(reader.stream(place, "a", gather));
    CHECK(gather.begins == 0);
  }
}

TEST_CASE("files that cannot be had are named") {
  const Store store(EventFile{});
  RecordReader reader = store.reader();
  const auto gone = reader.read({"events/none", 0, 100}, "a");
  REQUIRE_FALSE(gone);
  CHECK(gone.problem().kind == ProblemKind::not_found);
  CHECK(gone.problem().file == "events/none");
  for (const char* const name : {"", "/etc/passwd", "../e", "events"}) {
    const auto refused = reader.read({name, 0, 100}, "a");
    CAPTURE(name);
    REQUIRE_FALSE(refused);
    CHECK(refused.problem().kind == ProblemKind::damaged);
  }
}

}  // namespace smd::test
