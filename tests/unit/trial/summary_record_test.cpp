// SPDX-License-Identifier: Apache-2.0
// Reading values of a layout whose records hold what TensorBoard's writers store.
#include "layout/layout.hpp"
#include "support/temp_dir.hpp"
#include "trial/record_reader.hpp"
#include "unit/wire/message_builder.hpp"
#include "wire/framing.hpp"

#include <doctest/doctest.h>

#include <cstring>

namespace smd::test {
namespace {

using namespace detail;

class SummaryLayout final : public layout::Layout {
 public:
  Outcome<layout::Found> look(storage::Storage&, const layout::LookRequest&, const layout::Listing*,
                              std::shared_ptr<const layout::CollectionsInfo>) const override {
    return damaged("never asked");
  }
  bool ended(storage::Storage&) const override { return true; }
  std::span<const std::string_view> folders() const noexcept override { return {}; }
  storage::WatchScope watched() const override { return {}; }
  std::string_view record_name(std::string_view, std::string_view stored) const noexcept override {
    return stored.substr(stored.find('/') + 1);  // without the run
  }
  wire::ValueKinds value_kinds() const noexcept override { return wire::ValueKinds::summaries; }
};

/// One event file, and a reader of it.
struct Log {
  /// The record with these values.
  TensorLocation add(std::initializer_list<Message> values, RecordPart part = RecordPart::all) {
    Message summary;
    for (const Message& value : values) {
      summary.message(1, value);
    }
    const Message event = Message().fixed64(1, 0x41d954fc40100000).varint(2, 3).message(5, summary);
    const std::size_t start = bytes.size();
    wire::append_record(bytes, std::as_bytes(std::span(event.bytes())), wire::Protection::checksum);
    TensorLocation location{"log", start, bytes.size() - start};
    location.part = part;
    return location;
  }
  trial::RecordReader reader() {
    dir.write("log", bytes);
    auto opened = storage::open_local(dir.path());
    REQUIRE(opened);
    storage = *std::move(opened);
    return {*storage, true, &layout};
  }

  TempDir dir;
  std::string bytes;
  SummaryLayout layout;
  std::unique_ptr<storage::Storage> storage;
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

class Gather final : public BlockSink {
 public:
  bool begin(Dtype, const Shape& in_shape) override {
    shape = in_shape;
    return true;
  }
  bool block(std::span<const std::byte> block) override {
    bytes.append(reinterpret_cast<const char*>(block.data()), block.size());
    return true;
  }

  Shape shape;
  std::string bytes;
};

}  // namespace

TEST_CASE("values of one event are read by their names, small and large ones") {
  Log log;
  const TensorLocation small = log.add({number("a", 0x3f800000), number("b", 0x40000000)});
  const TensorLocation one = log.add({large("big", 'x')});
  const TensorLocation two = log.add({large("big", 'y'), large("other", 'z'), number("a", 0x3f000000)});
  trial::RecordReader reader = log.reader();
  const auto a = reader.read(small, "run/a");
  REQUIRE_MESSAGE(a, a.problem().text);
  CHECK(float_in(a->value) == 1);
  CHECK(a->wall_time == 1700000000.25);
  CHECK(a->has_checksum);
  const auto b = reader.read_once(small, "run/b");
  REQUIRE(b);
  CHECK(float_in(b->value) == 2);
  CHECK(reader.read(small, "run/c").problem().text == "record holds tensor 'b', not 'c'");

  struct Row {
    const TensorLocation* location;
    std::string_view tag;
    char content;
  };
  for (const Row& row : {Row{&one, "run/big", 'x'}, Row{&two, "run/big", 'y'}, Row{&two, "run/other", 'z'}}) {
    CAPTURE(row.tag);
    const auto value = reader.read(*row.location, row.tag);
    REQUIRE_MESSAGE(value, value.problem().text);
    CHECK(value->value.shape() == Shape{1000, 1000});
    const std::span<const std::byte> elements = value->value.bytes();
    CHECK(elements.size() == 1'000'000);
    CHECK(elements.front() == static_cast<std::byte>(row.content));
    CHECK(elements.back() == static_cast<std::byte>(row.content));
    CHECK(reader.peek(*row.location, row.tag)->value.shape() == Shape{1000, 1000});
    Gather gather;
    REQUIRE(reader.stream(*row.location, row.tag, gather));
    CHECK(gather.shape == Shape{1000, 1000});
    CHECK(gather.bytes == std::string(1'000'000, row.content));
  }
  const auto last = reader.read(two, "run/a");
  REQUIRE(last);
  CHECK(float_in(last->value) == 0.5);
  CHECK_FALSE(reader.read(one, "run/other"));
}

TEST_CASE("a part of a record is read, in one piece and in blocks") {
  Log log;
  Message images = tensor_message(7, {3});
  images.text(8, "640").text(8, "480").text(8, "PNG");
  const TensorLocation pictures = log.add({Message().text(1, "p").message(8, images)}, RecordPart::images);
  const std::string packed("\3\0\0\0PNG", 7);
  trial::RecordReader reader = log.reader();
  const auto value = reader.read(pictures, "run/p");
  REQUIRE(value);
  CHECK(value->value.shape() == Shape{1});
  CHECK(std::string(reinterpret_cast<const char*>(value->value.bytes().data()), value->value.bytes().size()) == packed);
  Gather gather;
  REQUIRE(reader.stream(pictures, "run/p", gather));
  CHECK(gather.shape == Shape{1});
  CHECK(gather.bytes == packed);
}

TEST_CASE("a number that its location holds is given in its type, to the bit") {
  struct Row {
    Dtype dtype;
    std::uint64_t bits;
    std::string_view bytes;
  };
  Log log;
  trial::RecordReader reader = log.reader();
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
    TensorLocation location{"nowhere", 0, 0};
    location.bare = std::make_shared<BareValue>(BareValue{row.dtype, {}, row.bits, 12.5});
    const auto value = reader.read(location, "x");
    REQUIRE(value);
    CHECK(value->value.dtype() == row.dtype);
    CHECK(value->value.shape().empty());
    CHECK(value->wall_time == 12.5);
    CHECK(std::string_view(reinterpret_cast<const char*>(value->value.bytes().data()), value->value.bytes().size()) ==
          row.bytes);
    Gather gather;
    REQUIRE(reader.stream(location, "x", gather));
    CHECK(gather.bytes == row.bytes);
  }
}

}  // namespace smd::test
