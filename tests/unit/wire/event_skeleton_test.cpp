// SPDX-License-Identifier: Apache-2.0
#include "wire/outline.hpp"

#include "message_builder.hpp"
#include "wire/summary.hpp"

#include <smd/limits.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;
using namespace smd::test;

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
