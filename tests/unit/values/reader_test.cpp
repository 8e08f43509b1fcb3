// SPDX-License-Identifier: Apache-2.0
#include "values/reader.hpp"

#include "opened.hpp"
#include "support/compressed.hpp"
#include "wire/encode.hpp"
#include "wire/framing.hpp"

#include <doctest/doctest.h>
#include <smd/difference.hpp>
#include <smd/error.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>

namespace smd::test {
namespace {

using detail::values::Reader;
using detail::wire::Protection;

/// Records in one event file, with where each lies.
class EventFile {
 public:
  Place add(std::string_view tag, Dtype dtype, const Shape& shape, std::span<const std::byte> elements,
            Protection protection = Protection::unprotected) {
    std::string event;
    detail::wire::append_event(event, {.tag = tag, .wall_time = 12.5, .mode_step = {}, .mode = {}},
                               TensorView(dtype, shape, elements));
    const std::size_t start = bytes.size();
    detail::wire::append_record(bytes, std::as_bytes(std::span(event)), protection);
    return place_of(name, start, bytes.size() - start);
  }
  [[nodiscard]] Store store() const { return {name, bytes}; }

  std::string bytes;
  std::string name = "events/e";
};

constexpr std::size_t megabyte = 1'000'000;

}  // namespace

TEST_CASE("a large record: value, blocks, and type and shape alone") {
  const std::vector<std::byte> elements = noise(3 * megabyte);
  const Shape shape = {2, 375'000};  // of 4 bytes each
  for (const Protection protection : {Protection::unprotected, Protection::checksum}) {
    EventFile file;
    const Place small = file.add("small", Dtype::float32, {}, noise(4));
    const Place large = file.add("large", Dtype::float32, shape, elements, protection);
    const Store store = file.store();
    for (const bool verify : {true, false}) {
      Reader reader = store.reader(verify);
      REQUIRE(reader.open(large, "large"));
      CHECK(reader.dtype() == Dtype::float32);
      CHECK(reader.shape() == shape);
      CHECK(reader.size() == 750'000);
      CHECK(reader.wall_time() == 12.5);
      CHECK(reader.has_checksum() == (protection == Protection::checksum));
      CHECK(reader.random_access());
      const auto value = whole(reader, large, "large");
      REQUIRE(value);
      CHECK(value->dtype() == Dtype::float32);
      CHECK(value->shape() == shape);
      CHECK(same(value->bytes(), elements));

      const auto blocks = in_blocks(reader, large, "large");
      REQUIRE(blocks);
      CHECK(blocks->shape == shape);
      CHECK(same(blocks->bytes, elements));
      CHECK(blocks->blocks > 5);  // in blocks indeed
      CHECK(blocks->largest <= Extent::block_bytes);

      CHECK(whole(reader, small, "small")->bytes().size() == 4);
    }
  }
}

TEST_CASE("any range of a value, in memory or in the file") {
  for (const std::size_t size : {std::size_t{100'000}, 5 * megabyte}) {
    const std::vector<std::byte> elements = noise(size);
    const auto count = static_cast<std::int64_t>(size / 4);
    for (const Protection protection : {Protection::unprotected, Protection::checksum}) {
      EventFile file;
      const Place place = file.add("t", Dtype::int32, {count}, elements, protection);
      const Store store = file.store();
      Reader reader = store.reader();
      REQUIRE(reader.open(place, "t"));
      const std::span<const std::byte> all(elements);
      for (const std::size_t first : {std::size_t{0}, size / 8, size / 4 - 3}) {
        const std::span<const std::byte> some = reader.view(first, 1000);
        CHECK(some.size() == std::min<std::size_t>(1000, size / 4 - first) * 4);
        CHECK(same(some, all.subspan(first * 4, some.size())));
        std::vector<std::byte> into(12);
        REQUIRE(reader.read(first, into));
        CHECK(same(into, all.subspan(first * 4, 12)));
      }
      CHECK(reader.view(size / 4, 1).empty());
      CHECK_FALSE(reader.problem());
    }
  }
}

TEST_CASE("reading stops when it is asked to, within a value too") {
  EventFile file;
  const Place large = file.add("large", Dtype::uint8, {3'000'000}, noise(3 * megabyte), Protection::checksum);
  const Store store = file.store();
  int asked = 0;
  int most = 1'000'000;
  Reader reader(*store.storage, true, detail::wire::ValueKinds::tensors, {1, [&] { return ++asked > most; }});
  REQUIRE(in_blocks(reader, large, "large"));
  const int needed = asked;
  CHECK(needed > 20);  // checked and read in blocks
  for (most = 0; most < needed; ++most) {
    asked = 0;
    const auto stopped = in_blocks(reader, large, "large");
    REQUIRE_FALSE(stopped);
    CHECK(stopped.problem().kind == ProblemKind::stopped);
    CHECK(stopped.problem().file == file.name);
  }
}

TEST_CASE("a flipped bit of a large checked record is damage before any block") {
  const std::vector<std::byte> elements = noise(3 * megabyte);
  EventFile file;
  const Place large = file.add("large", Dtype::uint8, {3'000'000}, elements, Protection::checksum);
  const std::size_t content = file.bytes.size() - 4 - elements.size();  // elements, then the footer
  REQUIRE(std::memcmp(file.bytes.data() + content, elements.data(), elements.size()) == 0);
  for (const std::size_t at : {content, content + 500'000, file.bytes.size() - 5}) {
    EventFile flipped = file;
    flipped.bytes[at] = static_cast<char>(flipped.bytes[at] ^ 0x10);
    const Store store = flipped.store();
    Reader reader = store.reader();
    CAPTURE(at);
    CHECK(reader.open(large, "large"));  // its elements are not read yet
    const auto value = whole(reader, large, "large");
    REQUIRE_FALSE(value);
    CHECK(value.problem().kind == ProblemKind::damaged);
    CHECK(value.problem().file == file.name);
    CHECK(value.problem().offset == file.bytes.size() - 4);  // of the footer, which does not agree
    REQUIRE(reader.open(large, "large"));
    CHECK(reader.view(0, 1).empty());
    CHECK(reader.problem() == value.problem());
    REQUIRE(reader.open(large, "large"));
    CHECK(reader.view(1'000'000, 1).empty());  // whatever range is asked for
    CHECK(reader.problem() == value.problem());
    Reader trusting = store.reader(false);
    CHECK(whole(trusting, large, "large"));
    REQUIRE(reader.open(large, "large"));
    reader.trust();
    CHECK(reader.view(0, 1).size() == 1);
  }
}

TEST_CASE("a large checked record is read once where its reader can drop what it made of it") {
  EventFile file;
  const std::vector<std::byte> elements = noise(3 * megabyte);
  const Place large = file.add("large", Dtype::uint8, {3'000'000}, elements, Protection::checksum);
  EventFile flipped = file;
  char& last = flipped.bytes[flipped.bytes.size() - 5];  // of the elements
  last = static_cast<char>(last ^ 0x10);
  for (const bool right : {true, false}) {
    const Store store = (right ? file : flipped).store();
    int asked = 0;
    Reader reader(*store.storage, true, detail::wire::ValueKinds::tensors, {1, [&] { return ++asked < 0; }});
    CHECK(in_blocks(reader, large, "large").operator bool() == right);
    const int twice = std::exchange(asked, 0);
    REQUIRE(reader.open(large, "large"));
    reader.verify_while_reading(0, reader.size());
    std::vector<std::byte> read;
    const auto take = [&](std::span<const std::byte> block) { read.insert(read.end(), block.begin(), block.end()); };
    CHECK(reader.for_each_block(take) == right);
    CHECK(read.size() > 2 * megabyte);
    CHECK((right ? asked * 2 <= twice + 4 : reader.problem()->kind == ProblemKind::damaged));
    CHECK(same(std::span(read).first(read.size()), std::span(elements).first(read.size())));

    // In another order, or of a part, it is verified first.
    REQUIRE(reader.open(large, "large"));
    reader.verify_while_reading(0, reader.size());
    CHECK(reader.view(5, 1).empty() == !right);
    REQUIRE(reader.open(large, "large"));
    reader.verify_while_reading(0, 100);
    CHECK(reader.view(0, 100).empty() == !right);
    // Who reads the first elements verifies the whole.
    REQUIRE(reader.open(large, "large"));
    reader.verify_while_reading(100, 100);
    CHECK(reader.view(100, 100).size() == 100);
  }
}

TEST_CASE("open values are compared in step, and refused if their sizes differ") {
  EventFile file;
  const std::vector<std::byte> elements = noise(3 * megabyte);
  std::vector<std::byte> changed = elements;
  changed[2 * megabyte] ^= std::byte{1};
  const Place a = file.add("a", Dtype::uint8, {3'000'000}, elements, Protection::checksum);
  const Place b = file.add("b", Dtype::uint8, {3'000'000}, changed, Protection::checksum);
  const Place shorter = file.add("s", Dtype::uint8, {1000}, std::span(elements).first(1000));
  const Store store = file.store();
  Reader of_a = store.reader();
  Reader of_b = store.reader();
  REQUIRE(of_a.open(a, "a"));
  REQUIRE(of_b.open(b, "b"));
  Comparer whole;
  whole.add(of_a, of_b);
  CHECK(whole.result().size == 3'000'000);
  CHECK(whole.result().differing == 1);
  Comparer part;  // beyond the end there is nothing
  part.add(of_a, of_b, 2 * megabyte + 1);
  CHECK(part.result().size == megabyte - 1);
  CHECK(part.result().differing == 0);
  Comparer beyond;
  beyond.add(of_a, of_b, 4 * megabyte);
  CHECK(beyond.result().size == 0);
  REQUIRE(of_b.open(shorter, "s"));
  CHECK_THROWS_AS(Comparer().add(of_a, of_b), InvalidArgument);
  CHECK_THROWS_AS(Comparer().add(of_b, of_a, 0, 10), InvalidArgument);
}

TEST_CASE("bytes of booleans other than 0 and 1 come out as 1, whole and in blocks") {
  for (const std::size_t size : {std::size_t{100}, megabyte}) {
    const std::vector<std::byte> elements = noise(size, 3);
    std::vector<std::byte> expected(size);
    std::transform(elements.begin(), elements.end(), expected.begin(),
                   [](std::byte byte) { return byte == std::byte{0} ? byte : std::byte{1}; });
    EventFile file;
    const auto count = static_cast<std::int64_t>(size);
    const Place place = file.add("uint8", Dtype::uint8, {count}, elements);
    // The writer knows no such booleans: written as bytes, then called booleans (types 4 and 10, in a field of its
    // own).
    const std::size_t type = file.bytes.find("\x08\x04\x12");
    REQUIRE(type != std::string::npos);
    file.bytes[type + 1] = 10;
    const Store store = file.store();
    Reader reader = store.reader();
    const auto value = whole(reader, place, "uint8");
    REQUIRE(value);
    CHECK(value->dtype() == Dtype::boolean);
    CHECK(same(value->bytes(), expected));
    const auto blocks = in_blocks(reader, place, "uint8");
    REQUIRE(blocks);
    CHECK(same(blocks->bytes, expected));
  }
}

TEST_CASE("a large record of a compressed file comes in blocks") {
  const std::vector<std::byte> elements = noise(12 * megabyte);
  for (const Protection protection : {Protection::unprotected, Protection::checksum}) {
    EventFile file;
    const Place before = file.add("before", Dtype::float32, {}, noise(4));
    const Place large = file.add("large", Dtype::uint8, {12 * megabyte}, elements, protection);
    EventFile packed;
    packed.bytes = compressed(file.bytes, gzip);
    const Store store = packed.store();
    for (const bool known : {false, true}) {  // that it is compressed
      Reader reader = store.reader();
      if (known) {
        REQUIRE(whole(reader, before, "before"));
      }
      const auto blocks = in_blocks(reader, large, "large");
      REQUIRE_MESSAGE(blocks, blocks.problem().text);
      CHECK(same(blocks->bytes, elements));
      CHECK(blocks->blocks > 5);
      CHECK_FALSE(reader.random_access());
      const auto value = whole(reader, large, "large");
      REQUIRE(value);
      CHECK(same(value->bytes(), elements));
      CHECK(value->shape() == Shape{12 * megabyte});
    }
  }
}

TEST_CASE("the header of a compressed record is compared with the index first") {
  EventFile file;
  const Place sound = file.add("t", Dtype::uint8, {1000}, noise(1000));
  file.bytes.append(20 * megabyte, '\0');  // a range that is all there, but no record
  EventFile packed;
  packed.bytes = compressed(file.bytes, gzip);
  const Store store = packed.store();
  Reader reader = store.reader();
  const auto problem = [&](std::uint64_t offset, std::uint64_t length) {
    const auto read = whole(reader, place_of(packed.name, offset, length), "t");
    REQUIRE_FALSE(read);
    CHECK(read.problem().kind == ProblemKind::damaged);
    return read.problem().text;
  };
  REQUIRE(whole(reader, sound, "t"));
  CHECK(problem(0, 15 * megabyte) == "record of " + std::to_string(sound.length) +
                                         " bytes does not fill its range of 15000000 (in the inflated stream)");
  CHECK(problem(sound.length, 15 * megabyte) == "checksum of the record's length is wrong (in the inflated stream)");
  CHECK(problem(0, 5) == "5 bytes are too few for a record (in the inflated stream)");
}

TEST_CASE("compressed event files are read at inflated offsets, in any order") {
  const std::vector<std::byte> large = noise(megabyte);
  EventFile file;
  const std::vector<Place> places = {file.add("a", Dtype::uint8, {4}, noise(4), Protection::checksum),
                                     file.add("large", Dtype::uint8, {1'000'000}, large),
                                     file.add("z", Dtype::uint8, {9}, noise(9))};
  for (const int format : {gzip, MAX_WBITS}) {
    EventFile packed = file;
    packed.bytes = compressed(file.bytes, format);
    const Store store = packed.store();
    Reader reader = store.reader();
    for (const int i : {2, 0, 1, 2, 1, 0}) {
      const char* const tags[] = {"a", "large", "z"};
      const auto value = whole(reader, places[static_cast<std::size_t>(i)], tags[i]);
      CAPTURE(i);
      REQUIRE(value);
      CHECK(value->bytes().size() == (i == 0 ? 4 : i == 1 ? megabyte : 9));
    }
    CHECK(same(whole(reader, places[1], "large")->bytes(), large));
    CHECK(same(in_blocks(reader, places[1], "large")->bytes, large));

    Place off = places[2];
    off.offset += 3;
    const auto wrong = whole(reader, off, "z");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.problem().kind == ProblemKind::damaged);
    CHECK(whole(reader, places[0], "a"));  // and the reader goes on

    EventFile cut = packed;
    cut.bytes.resize(packed.bytes.size() / 2);
    const Store half = cut.store();
    Reader half_reader = half.reader();
    CHECK(whole(half_reader, places[0], "a"));
    const auto missing = whole(half_reader, places[2], "z");
    REQUIRE_FALSE(missing);
    CHECK(missing.problem().kind == ProblemKind::not_yet);
    CHECK(missing.problem().offset == places[2].offset);
  }
}

TEST_CASE("a record of another tensor is refused, large or small") {
  EventFile file;
  const Place small = file.add("other", Dtype::uint8, {4}, noise(4));
  const Place large = file.add("other", Dtype::uint8, {1'000'000}, noise(megabyte));
  const Store store = file.store();
  Reader reader = store.reader();
  for (const Place& place : {small, large}) {
    const auto opened = reader.open(place, "mine");
    REQUIRE_FALSE(opened);
    CHECK(opened.problem().kind == ProblemKind::damaged);
    CHECK(opened.problem().file == file.name);
    CHECK(opened.problem().offset >= place.offset);
    CHECK(opened.problem().text.find("other") != std::string::npos);
    CHECK(reader.view(0, 1).empty());
  }
}

TEST_CASE("a file that ends before the record does: not there yet; the caller decides") {
  EventFile file;
  file.add("first", Dtype::uint8, {4}, noise(4));
  const Place second = file.add("second", Dtype::uint8, {40}, noise(40));
  const std::string all = file.bytes;
  for (std::size_t size = second.offset; size < all.size(); ++size) {
    file.bytes = all.substr(0, size);
    const Store store = file.store();
    Reader reader = store.reader();
    const auto value = whole(reader, second, "second");
    CAPTURE(size);
    REQUIRE_FALSE(value);
    CHECK(value.problem().kind == ProblemKind::not_yet);
    CHECK(value.problem().offset == second.offset);
  }
}

TEST_CASE("ranges that no file holds cost no memory") {
  EventFile file;
  file.add("a", Dtype::uint8, {4}, noise(4));
  const Store store = file.store();
  Reader reader = store.reader();
  constexpr std::uint64_t most = ~std::uint64_t{0};
  const ValueType bytes = {.form = ValueForm::elements, .dtype = Dtype::uint8, .shape = {INT64_MAX}};
  for (const Place& place :
       {place_of(file.name, 0, most), place_of(file.name, most, most), place_of(file.name, most, 1),
        place_of(file.name, 1, std::uint64_t{1} << 40), place_of(file.name, 0, 0), place_of(file.name, 0, 15),
        place_of(file.name, 0, std::uint64_t{INT64_MAX}, bytes), place_of(file.name, most, INT64_MAX, bytes)}) {
    CHECK_FALSE(reader.open(place, "a"));
    CHECK_FALSE(whole(reader, place, "a"));
  }
}

TEST_CASE("elements of a file that is no longer the one that was described") {
  const Store store("f", std::string(8, 'a'));
  std::filesystem::last_write_time(store.dir / "f",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const auto described = [&](std::uint64_t length) {
    const auto source = std::make_shared<detail::storage::ElementSource>();
    const auto file = store.storage->open("f");
    REQUIRE(file);
    source->stamp = (*file)->stamp();
    return place_of("f", 0, length,
                    ValueType{.form = ValueForm::elements,
                              .dtype = Dtype::uint8,
                              .shape = {static_cast<std::int64_t>(length)},
                              .source = source});
  };
  const auto first_byte = [](Reader& reader, const Place& place) {
    const auto value = whole(reader, place, "t");
    REQUIRE(value);
    return static_cast<char>(value->bytes()[0]);
  };
  const auto check_replaced = [&](Reader& reader, const Place& place) {
    const auto value = whole(reader, place, "t");
    REQUIRE_FALSE(value);
    CHECK(value.problem() == Problem{ProblemKind::not_found, "f", {}, "was replaced while it was read"});
  };
  const Place at_first = described(8);
  Reader reader = store.reader();
  CHECK(first_byte(reader, at_first) == 'a');

  store.dir.write("new", std::string(8, 'b'));
  std::filesystem::rename(store.dir / "new", store.dir / "f");
  CHECK(first_byte(reader, at_first) == 'a');  // the file is still open
  Reader fresh = store.reader();
  check_replaced(fresh, at_first);
  const Place after = described(8);
  CHECK(first_byte(reader, after) == 'b');
  CHECK(first_byte(fresh, after) == 'b');

  REQUIRE(fresh.open(after, "t"));
  store.dir.write("f", std::string(9, 'c'));  // in place, while the file is open
  CHECK(fresh.view(0, 8).empty());
  REQUIRE(fresh.problem());
  CHECK(fresh.problem()->text == "was replaced while it was read");
  const Place longer = described(9);
  CHECK(first_byte(fresh, longer) == 'c');
  store.dir.write("f", "c");  // what it lacks is no damage either
  check_replaced(fresh, longer);
  Reader another = store.reader();
  check_replaced(another, longer);
}

TEST_CASE("files that cannot be had are named") {
  const Store store = EventFile{}.store();
  Reader reader = store.reader();
  const auto gone = whole(reader, place_of("events/none", 0, 100), "a");
  REQUIRE_FALSE(gone);
  CHECK(gone.problem().kind == ProblemKind::not_found);
  CHECK(gone.problem().file == "events/none");
  for (const char* const name : {"", "/etc/passwd", "../e", "events"}) {
    const auto refused = whole(reader, place_of(name, 0, 100), "a");
    CAPTURE(name);
    REQUIRE_FALSE(refused);
    CHECK(refused.problem().kind == ProblemKind::damaged);
  }
}

}  // namespace smd::test
