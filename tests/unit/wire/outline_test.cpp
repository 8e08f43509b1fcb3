// SPDX-License-Identifier: Apache-2.0
#include "wire/outline.hpp"

#include "hex.hpp"
#include "message_builder.hpp"

#include "text/limits.hpp"
#include "wire/summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;
using namespace smd::test;

namespace {

/// Does what a caller does with a large record, from a payload in memory. Returns nullopt if all of it must be loaded.
std::optional<Outcome<Value>> outline(std::string_view payload, std::string_view tag,
                                      std::size_t head_bytes = outline_head_bytes) {
  const auto bytes = bytes_of(payload);
  const auto head = bytes.first(std::min(head_bytes, bytes.size()));
  const auto place = find_content(head, bytes.size());
  if (!place) {
    return {};
  }
  REQUIRE(place->offset <= head.size());
  REQUIRE(place->offset + place->bytes > head.size());
  REQUIRE(place->offset + place->bytes <= bytes.size());
  auto value = parse_outline(*place, head, bytes.subspan(place->offset + place->bytes), tag);
  if (!value) {
    return Outcome<Value>(std::move(value.problem()));
  }
  if (!*value) {
    return {};
  }
  CHECK((*value)->bytes.empty());
  // The elements are at the reported place: where the full parser finds them.
  const auto whole = parse_value(bytes, tag);
  REQUIRE(whole);
  if (whole->owned == nullptr) {
    CHECK(whole->bytes.data() == bytes.data() + place->offset);
  }
  CHECK(whole->bytes.size() == place->bytes);
  return Outcome<Value>(std::move(**value));
}

const std::string bulk(100'000, 'e');

Message plugin(std::string_view name, std::string_view content) {
  return Message().message(1, Message().text(1, name).text(2, content));
}

/// A message as the reference writes it: time, step, tag, type, shape, content, plugin data.
Message usual(std::int64_t rows) {
  const Message value = Message()
                            .text(1, "big")
                            .message(8, tensor_message(4, {rows, 1000}).text(4, bulk))
                            .message(9, Message(plugin("mode_step", "12")).raw(plugin("mode", "2").bytes()));
  return Message().fixed64(1, 0x41d9fc4000000000).varint(2, 30).message(5, Message().message(1, value));
}

}  // namespace

TEST_CASE("the outline of a large record has all of its fields") {
  const auto value = outline(usual(100).bytes(), "big");
  REQUIRE(value);
  REQUIRE_MESSAGE(*value, value->problem().text);
  CHECK((*value)->dtype == Dtype::uint8);
  CHECK((*value)->shape == Shape{100, 1000});
  CHECK((*value)->step == 30);
  CHECK((*value)->wall_time == 1743847424.0);  // Python: struct.unpack("<d", struct.pack("<Q", 0x41d9fc4000000000))
}

TEST_CASE("an outline fails as the full parser does") {
  const std::string payload = usual(99).bytes();
  const auto value = outline(payload, "big");
  REQUIRE(value);
  REQUIRE_FALSE(*value);
  CHECK(value->problem().text == "tensor 'big': 100000 bytes of content, but uint8 99x1000 needs 99000");
  CHECK(value->problem() == parse_value(bytes_of(payload), "big").problem());
  const auto other = outline(usual(100).bytes(), "other");
  REQUIRE(other);
  REQUIRE_FALSE(*other);
  CHECK(other->problem().text == "record holds tensor 'big', not 'other'");
}

TEST_CASE("fields may come in any order around the elements") {
  const Message tensor = Message().text(4, bulk).message(2, shape_message({100000})).varint(1, 4);
  const Message value = Message().message(8, tensor).text(1, "big");
  const auto parsed = outline(Message().message(5, Message().message(1, value)).varint(2, 7).bytes(), "big");
  REQUIRE(parsed);
  REQUIRE(*parsed);
  CHECK((*parsed)->shape == Shape{100000});
  CHECK((*parsed)->step == 7);
}

TEST_CASE("unusual records are left to the full parser") {
  const Message tensor = tensor_message(4, {100000}).text(4, bulk);
  const Message value = Message().text(1, "big").message(8, tensor);
  const Message small = Message().text(1, "small").message(8, tensor_message(4, {1}).text(4, "x"));
  const auto event = [](const Message& summary) { return Message().message(5, summary).bytes(); };
  REQUIRE(outline(event(Message().message(1, value)), "big"));
  // a second value, before and after
  CHECK_FALSE(outline(event(Message().message(1, small).message(1, value)), "big"));
  CHECK_FALSE(outline(event(Message().message(1, value).message(1, small)), "big"));
  // a second content, which replaces the first
  CHECK_FALSE(
      outline(event(Message().message(1, Message().text(1, "big").message(8, Message(tensor).text(4, "y")))), "big"));
  // a tensor in two pieces
  CHECK_FALSE(outline(event(Message().message(1, Message(value).message(8, Message().varint(1, 4)))), "big"));
  // values in addition to the content
  CHECK_FALSE(
      outline(event(Message().message(1, Message().text(1, "big").message(8, Message(tensor).varint(7, 1)))), "big"));
  // another kind that replaces the tensor with the content, and then a tensor without content
  const Message bare = tensor_message(4, {100000});
  CHECK_FALSE(outline(event(Message().message(1, Message(value).message(4, Message()).message(8, bare))), "big"));
  const Message again = Message().message(1, Message().text(1, "big").message(8, bare));
  CHECK_FALSE(
      outline(Message().message(5, Message().message(1, value)).text(3, "version").message(5, again).bytes(), "big"));
  // groups
  CHECK_FALSE(outline(Message().key(20, 3).key(20, 4).raw(event(Message().message(1, value))).bytes(), "big"));
  // more data after the elements than the outline reads
  CHECK_FALSE(outline(event(Message().message(1, Message(value).text(7, std::string(70'000, 'n')))), "big"));
  // a small tensor: all of it is in the head
  CHECK_FALSE(outline(event(Message().message(1, small)), "small"));
  // strings, and another field of that size
  CHECK_FALSE(outline(
      event(Message().message(1, Message().text(1, "big").message(8, tensor_message(7, {1}).text(8, bulk)))), "big"));
  CHECK_FALSE(outline(Message().text(4, bulk).bytes(), "big"));
  CHECK_FALSE(outline("", "big"));
}

TEST_CASE("heads of every size either find the elements or nothing") {
  const std::string payload = usual(100).bytes();
  const std::size_t begin = payload.find(bulk);
  for (std::size_t head = 0; head < begin + 3; ++head) {
    CAPTURE(head);
    const auto value = outline(payload, "big", head);
    CHECK(static_cast<bool>(value) == (head >= begin));
    if (value) {
      CHECK(*value);
    }
  }
}

TEST_CASE("with any bit flipped outside the elements, an outline agrees with the full parser") {
  const std::string sound = usual(100).bytes();
  const std::size_t begin = sound.find(bulk);
  std::size_t outlined = 0;
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * sound.size(); ++bit) {
    if (bit == 8 * begin) {
      bit += 8 * bulk.size();
    }
    std::string payload = sound;
    payload[bit / 8] = static_cast<char>(payload[bit / 8] ^ (1 << (bit % 8)));
    const auto part = outline(payload, "big");  // checks the place of the elements itself
    if (!part) {
      continue;
    }
    CAPTURE(bit);
    const auto whole = parse_value(bytes_of(payload), "big");
    REQUIRE(static_cast<bool>(*part) == static_cast<bool>(whole));
    if (whole) {
      ++outlined;
      CHECK((*part)->dtype == whole->dtype);
      CHECK((*part)->shape == whole->shape);
      CHECK((*part)->step == whole->step);
    } else {
      ++refused;
    }
  }
  CHECK(outlined > 100);
  CHECK(refused > 100);
}

namespace {

struct SkeletonRead {
  Outcome<std::string> skeleton;
  std::uint64_t most = 0;  ///< The most bytes that were asked for at once.
};

SkeletonRead skeleton_of(std::string_view payload) {
  SkeletonRead result{std::string(), 0};
  result.skeleton = event_skeleton(payload.size(), [&](std::uint64_t at, std::uint64_t bytes) {
    REQUIRE(at + bytes <= payload.size());
    result.most = std::max(result.most, bytes);
    return Outcome<std::span<const std::byte>>(std::as_bytes(std::span(payload)).subspan(at, bytes));
  });
  return result;
}

const std::string long_text(std::size_t{20} << 20U, 'x');  // above what is kept of a tensor

Message event_with(const Message& summary) { return Message().varint(2, 7).message(5, summary); }
Message tagged(std::string_view tag) { return Message().text(1, tag); }

}  // namespace

TEST_CASE("a skeleton lacks images and long tensors; names, numbers and histograms are there") {
  constexpr std::uint32_t half = 0x3f000000;  // struct.pack("<f", 0.5)
  const std::string histogram(std::size_t{1} << 20U, 'h');
  const SkeletonRead found =
      skeleton_of(event_with(Message()
                                 .message(1, tagged("picture").text(4, long_text))
                                 .message(1, tagged("number").fixed32(2, half))
                                 .message(1, tagged("spread").text(5, histogram))
                                 .message(1, tagged("matrix").message(8, tensor_message(1, {9}).text(4, long_text))))
                      .bytes());
  REQUIRE(found.skeleton);
  CHECK(found.skeleton->size() < histogram.size() + 200);
  CHECK(found.most < histogram.size() + 10);
  EventOutline event;
  REQUIRE(outline_event(std::as_bytes(std::span(*found.skeleton)), event));
  CHECK(event.step == 7);
  REQUIRE(event.values.size() == 4);
  CHECK(event.values[0].tag == "picture");
  CHECK(event.values[0].kind == SummaryKind::image);
  CHECK(event.values[1].number == 0.5F);
  CHECK(event.values[2].kind == SummaryKind::histogram);
  CHECK(std::ranges::equal(event.values[2].message, std::as_bytes(std::span(histogram))));
  CHECK(event.values[3].tag == "matrix");
  const auto matrix = parse_value(std::as_bytes(std::span(*found.skeleton)), "matrix", ValueKinds::summaries);
  REQUIRE(matrix);
  CHECK(matrix->shape == Shape{9});
}

TEST_CASE("a graph and what is unknown are left out of a skeleton") {
  const SkeletonRead found = skeleton_of(Message().varint(2, 7).text(4, long_text).text(100, long_text).bytes());
  REQUIRE(found.skeleton);
  CHECK(found.skeleton->size() < 20);
  EventOutline event;
  REQUIRE(outline_event(std::as_bytes(std::span(*found.skeleton)), event));
  CHECK(event.kind == EventKind::graph);
  CHECK(event.step == 7);
}

TEST_CASE("what has no skeleton is damaged") {
  const std::string value = event_with(Message().message(1, tagged("a").text(4, long_text))).bytes();
  CHECK(!skeleton_of(value.substr(0, value.size() - 1)).skeleton);  // longer than the payload
  CHECK(!skeleton_of(value + "\x0b").skeleton);                     // a group
  CHECK(!skeleton_of(value + std::string(11, '\xff')).skeleton);    // a number that does not end
  Message many;
  for (std::uint64_t size = 0; size <= limits::event_bytes; size += 60'000) {
    many.message(1, tagged("t").text(3, std::string(60'000, 'x')));
  }
  const SkeletonRead found = skeleton_of(event_with(many).bytes());
  REQUIRE(!found.skeleton);
  CHECK(found.skeleton.problem().text.find("event_bytes") != std::string::npos);
}
