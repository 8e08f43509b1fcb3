// SPDX-License-Identifier: Apache-2.0
#include "wire/event_outline.hpp"

#include "hex.hpp"
#include "message_builder.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace smd::detail::wire;
using namespace smd::test;

namespace {

constexpr std::uint64_t wall_time_bits = 0x41d954fc40100000;  // Python: struct.pack("<d", 1700000000.25)
constexpr std::uint32_t three_quarters = 0x3f400000;          // struct.pack("<f", 0.75)

Message value_of(std::string_view tag, std::uint32_t bits) {
  return Message().message(1, Message().text(1, tag).fixed32(2, bits));
}
Message event_of(std::uint64_t step, const Message& summary) {
  return Message().fixed64(1, wall_time_bits).varint(2, step).message(5, summary);
}

/// What stands between step and number in the events of a tag.
std::string between_of(const Message& event) {
  const auto between = between_step_and_number(bytes_of(event.bytes()));
  return {reinterpret_cast<const char*>(between.data()), between.size()};
}

bool is_like(const Message& event, const std::string& between, PlainNumber& found) {
  return plain_number(bytes_of(event.bytes()), bytes_of(between), found);
}

}  // namespace

TEST_CASE("numbers of a tag, by the event of another step") {
  const std::string between = between_of(event_of(300, value_of("train/loss", 0)));
  // After 9 bytes of wall time and 2 of step: keys and lengths of summary, value and tag, the tag, the number's key.
  REQUIRE(between == event_of(0, value_of("train/loss", 0)).bytes().substr(9 + 2, 6 + 10 + 1));
  for (const std::uint64_t step : {std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{1} << 40,
                                   std::uint64_t{std::numeric_limits<std::int64_t>::max()}}) {
    CAPTURE(step);
    PlainNumber found;
    REQUIRE(is_like(event_of(step, value_of("train/loss", three_quarters)), between, found));
    CHECK(found.wall_time == 1700000000.25);
    CHECK(found.step == static_cast<std::int64_t>(step));
    CHECK(found.bits == three_quarters);
  }
}

TEST_CASE("events that differ in more than their numbers") {
  const Message summary = value_of("train/loss", three_quarters);
  const std::string between = between_of(event_of(300, summary));
  const std::vector<std::pair<const char*, Message>> others = {
      {"another tag", event_of(300, value_of("train/lost", three_quarters))},
      {"a longer tag", event_of(300, value_of("train/losses", three_quarters))},
      {"no step", Message().fixed64(1, wall_time_bits).message(5, summary)},
      {"a negative step", event_of(UINT64_MAX, summary)},
      {"no wall time", Message().varint(2, 300).message(5, summary)},
      {"step before wall time", Message().varint(2, 300).fixed64(1, wall_time_bits).message(5, summary)},
      {"more behind it", event_of(300, summary).varint(10, 1)},
      {"two values", event_of(300, value_of("a", 0).message(1, Message().text(1, "train/loss").fixed32(2, 0)))},
      {"a field between", Message().fixed64(1, wall_time_bits).varint(2, 300).varint(15, 1).message(5, summary)},
      {"nothing", Message()},
  };
  for (const auto& other : others) {
    CAPTURE(other.first);
    PlainNumber found;
    CHECK_FALSE(is_like(other.second, between, found));
  }
  const std::string whole = event_of(300, summary).bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    PlainNumber found;
    CHECK_FALSE(is_like(Message().raw(whole.substr(0, size)), between, found));
  }
}

TEST_CASE("events without a form to expect") {
  const std::vector<std::pair<const char*, Message>> others = {
      {"a tensor", event_of(300, Message().message(1, Message().text(1, "a").message(8, tensor_message(1, {}))))},
      {"metadata", event_of(300, Message().message(1, Message().text(1, "a").message(9, Message()).fixed32(2, 0)))},
      {"a tag that is not ASCII", event_of(300, value_of("\xC3\xBC", 0))},
      {"no tag", event_of(300, value_of("", 0))},
      {"no step", Message().fixed64(1, wall_time_bits).message(5, value_of("a", 0))},
  };
  for (const auto& other : others) {
    CAPTURE(other.first);
    CHECK(between_of(other.second).empty());
  }
}
