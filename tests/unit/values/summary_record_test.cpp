// SPDX-License-Identifier: Apache-2.0
// Records that hold what TensorBoard's writers store.
#include "opened.hpp"
#include "unit/wire/message_builder.hpp"
#include "wire/framing.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

using namespace detail;

using values::Reader;

/// One event file, and a reader of it.
struct Log {
  /// The record with these values.
  Place add(std::initializer_list<Message> values, ValueForm form = ValueForm::record) {
    Message summary;
    for (const Message& value : values) {
      summary.message(1, value);
    }
    const Message event = Message().fixed64(1, 0x41d954fc40100000).varint(2, 3).message(5, summary);
    const std::size_t start = bytes.size();
    wire::append_record(bytes, std::as_bytes(std::span(event.bytes())), wire::Protection::checksum);
    return place_of("log", start, bytes.size() - start, ValueType{.form = form});
  }
  Reader reader() {
    store.emplace("log", bytes);
    return {*store->storage, true, wire::ValueKinds::summaries};
  }

  std::string bytes;
  std::optional<Store> store;
};

Message number(std::string_view tag, std::uint32_t bits) { return Message().text(1, tag).fixed32(2, bits); }
Message large(std::string_view tag, char content) {
  return Message().text(1, tag).message(8, tensor_message(4, {1000, 1000}).text(4, std::string(1'000'000, content)));
}

float float_in(const TensorValue& value) {
  float result = 0;
  REQUIRE(value.bytes().size() == sizeof result);
  std::memcpy(&result, value.bytes().data(), sizeof result);
  return result;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("values of one event are read by their names, small and large ones") {
  Log log;
  const Place small = log.add({number("a", 0x3f800000), number("b", 0x40000000)});
  const Place one = log.add({large("big", 'x')});
  const Place two = log.add({large("big", 'y'), large("other", 'z'), number("a", 0x3f000000)});
  Reader reader = log.reader();
  const auto a = whole(reader, small, "a");
  REQUIRE_MESSAGE(a, a.problem().text);
  CHECK(float_in(*a) == 1);
  CHECK(reader.wall_time() == 1700000000.25);
  CHECK(reader.has_checksum());
  const auto b = whole(reader, small, "b");
  REQUIRE(b);
  CHECK(float_in(*b) == 2);
  CHECK(reader.open(small, "c").problem().text == "record holds tensor 'b', not 'c'");

  struct Row {
    const Place* place;
    std::string_view tag;
    char content;
  };
  for (const Row& row : {Row{&one, "big", 'x'}, Row{&two, "big", 'y'}, Row{&two, "other", 'z'}}) {
    CAPTURE(row.tag);
    const auto value = whole(reader, *row.place, row.tag);
    REQUIRE_MESSAGE(value, value.problem().text);
    CHECK(value->shape() == Shape{1000, 1000});
    CHECK(text_of(value->bytes()) == std::string(1'000'000, row.content));
    const auto blocks = in_blocks(reader, *row.place, row.tag);
    REQUIRE(blocks);
    CHECK(text_of(blocks->bytes) == std::string(1'000'000, row.content));
  }
  const auto last = whole(reader, two, "a");
  REQUIRE(last);
  CHECK(float_in(*last) == 0.5);
  CHECK_FALSE(reader.open(one, "other"));
}

TEST_CASE("a part of a record is read, in one piece and in blocks") {
  Log log;
  Message images = tensor_message(7, {3});
  images.text(8, "640").text(8, "480").text(8, "PNG");
  const Place pictures = log.add({Message().text(1, "p").message(8, images)}, ValueForm::images);
  const std::string packed("\3\0\0\0PNG", 7);
  Reader reader = log.reader();
  const auto value = whole(reader, pictures, "p");
  REQUIRE(value);
  CHECK(value->shape() == Shape{1});
  CHECK(text_of(value->bytes()) == packed);
  CHECK(text_of(in_blocks(reader, pictures, "p")->bytes) == packed);
}

TEST_CASE("a number that its place holds is given in its type, to the bit") {
  struct Row {
    Dtype dtype;
    std::uint64_t bits;
    std::string_view bytes;
  };
  Log log;
  Reader reader = log.reader();
  using namespace std::string_view_literals;
  for (const Row& row :
       {Row{Dtype::float64, 0x3ff8000000000000, "\0\0\0\0\0\0\xf8\x3f"sv},
        Row{Dtype::float32, 0x7fa00001, "\1\0\xa0\x7f"sv},
        Row{Dtype::int64, 0x7ffffffffffffffe, "\xfe\xff\xff\xff\xff\xff\xff\x7f"sv},
        Row{Dtype::uint64, UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff"sv},
        Row{Dtype::int32, 0xfffffffe, "\xfe\xff\xff\xff"sv}, Row{Dtype::int16, 0x8000, "\0\x80"sv},
        Row{Dtype::uint8, 200, "\xc8"sv}, Row{Dtype::float16, 0x3e00, "\0\x3e"sv},
        Row{Dtype::bfloat16, 0x3fc0, "\xc0\x3f"sv}, Row{Dtype::boolean, 1, "\1"sv}, Row{Dtype::boolean, 6, "\1"sv},
        Row{Dtype::complex64, 0x400000003f800000, "\0\0\x80\x3f\0\0\0\x40"sv}}) {
    CAPTURE(to_string(row.dtype));
    Place place = place_of("nowhere", 0, 0, ValueType{.form = ValueForm::number, .dtype = row.dtype});
    place.number = row.bits;
    place.wall_time = 12.5;
    const auto value = whole(reader, place, "x");
    REQUIRE(value);
    CHECK(value->dtype() == row.dtype);
    CHECK(value->shape().empty());
    CHECK(reader.wall_time() == 12.5);
    CHECK(text_of(value->bytes()) == row.bytes);
  }
}

}  // namespace smd::test
