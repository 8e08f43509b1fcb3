// SPDX-License-Identifier: Apache-2.0
// Events, field by field. The numbers are those of tensorboard/compat/proto/{event,summary}.proto.
#include "wire/summary.hpp"

#include "hex.hpp"
#include "message_builder.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;
using namespace smd::test;

namespace {

constexpr std::uint64_t wall_time_bits = 0x41d954fc40100000;  // Python: struct.pack("<d", 1700000000.25)
constexpr std::uint32_t three_quarters = 0x3f400000;          // struct.pack("<f", 0.75)

Message number(std::string_view tag) { return Message().text(1, tag).fixed32(2, three_quarters); }
Message event_of(const Message& value) {
  return Message().fixed64(1, wall_time_bits).varint(2, 300).message(5, Message().message(1, value));
}
Message metadata(std::string_view plugin, std::string_view content, std::uint64_t data_class) {
  return Message().message(1, Message().text(1, plugin).text(2, content)).varint(4, data_class);
}

/// Keeps the payload, which the outline borrows.
struct Outlined {
  explicit Outlined(const Message& message)
      : payload(message.bytes()), status(outline_event(bytes_of(payload), event)) {}

  std::string payload;
  EventOutline event;
  Status status;
};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string problem_of(const Message& message) {
  const Outlined outlined(message);
  if (outlined.status) {
    return "";
  }
  CHECK(outlined.status.problem().kind == ProblemKind::damaged);
  return outlined.status.problem().text;
}

}  // namespace

TEST_CASE("an event with a number") {
  const Outlined got(event_of(number("train/loss")));
  REQUIRE(got.status);
  CHECK(got.event.wall_time == 1700000000.25);
  CHECK(got.event.step == 300);
  CHECK(got.event.kind == EventKind::summary);
  CHECK(got.event.session == SessionStatus::unspecified);
  REQUIRE(got.event.values.size() == 1);
  CHECK(got.event.values[0].tag == "train/loss");
  CHECK(got.event.values[0].kind == SummaryKind::simple_value);
  CHECK(got.event.values[0].number == 0.75f);
  CHECK(got.event.values[0].message.empty());
  CHECK_FALSE(got.event.values[0].metadata);
  CHECK(got.event.plain);
}

TEST_CASE("numbers keep their bits, steps their sign; what is not written is 0") {
  const Outlined nan(Message()
                         .varint(2, std::uint64_t(-5))
                         .message(5, Message().message(1, Message().text(1, "x").fixed32(2, 0x7fc00000))));
  REQUIRE(nan.status);
  CHECK(nan.event.wall_time == 0);
  CHECK(nan.event.step == -5);
  CHECK(std::isnan(nan.event.values.at(0).number));
  const Outlined plain_nan(event_of(Message().text(1, "x").fixed32(2, 0xff800000)));
  REQUIRE(plain_nan.status);
  CHECK(plain_nan.event.values.at(0).number == -std::numeric_limits<float>::infinity());
  const Outlined first(Message().fixed64(1, wall_time_bits).message(5, Message().message(1, number("x"))));
  REQUIRE(first.status);
  CHECK(first.event.step == 0);
  const Outlined late(
      Message().fixed64(1, 0).varint(2, std::uint64_t{1} << 62).message(5, Message().message(1, number("x"))));
  REQUIRE(late.status);
  CHECK(late.event.step == std::int64_t{1} << 62);
  const Outlined empty{Message()};
  REQUIRE(empty.status);
  CHECK(empty.event.kind == EventKind::nothing);
}

TEST_CASE("the order of fields does not matter") {
  const Message value = Message().message(9, metadata("scalars", "", 1)).fixed32(2, three_quarters).text(1, "x");
  const Outlined got(Message().message(5, Message().message(1, value)).varint(2, 300).fixed64(1, wall_time_bits));
  REQUIRE(got.status);
  CHECK(got.event.step == 300);
  CHECK(got.event.wall_time == 1700000000.25);
  CHECK(got.event.values.at(0).tag == "x");
  CHECK(got.event.values.at(0).number == 0.75f);
  CHECK(got.event.values.at(0).metadata.value().plugin == "scalars");
}

TEST_CASE("each kind of value") {
  struct Row {
    std::uint32_t field;
    SummaryKind kind;
  };
  for (const Row row : {Row{4, SummaryKind::image}, Row{5, SummaryKind::histogram}, Row{6, SummaryKind::audio},
                        Row{8, SummaryKind::tensor}}) {
    CAPTURE(row.field);
    const Outlined got(event_of(Message().text(1, "x").text(row.field, "content")));
    REQUIRE(got.status);
    CHECK(got.event.values.at(0).kind == row.kind);
    CHECK(text_of(got.event.values.at(0).message) == "content");
    CHECK(got.event.plain);
  }
  const Outlined old(event_of(Message().text(1, "x").text(3, "old histogram")));
  REQUIRE(old.status);
  CHECK(old.event.values.at(0).kind == SummaryKind::none);
  const Outlined none(event_of(Message().text(1, "x").message(9, metadata("hparams", "settings", 0))));
  REQUIRE(none.status);
  CHECK(none.event.values.at(0).kind == SummaryKind::none);
  CHECK(text_of(none.event.values.at(0).metadata.value().content) == "settings");
}

TEST_CASE("a name of a node stands in for a tag that is empty") {
  const Outlined without(event_of(Message().fixed32(2, three_quarters).text(7, "node:0")));
  REQUIRE(without.status);
  CHECK(without.event.values.at(0).tag == "node:0");
  const Outlined both(event_of(Message().text(1, "tag").text(7, "node:0").fixed32(2, three_quarters)));
  REQUIRE(both.status);
  CHECK(both.event.values.at(0).tag == "tag");
}

TEST_CASE("several values in one event, and the outline used again") {
  EventOutline event;
  const std::string three =
      Message()
          .message(5,
                   Message().message(1, number("a")).message(1, Message().text(1, "b").text(8, "tensor")).varint(7, 1))
          .message(5, Message().message(1, number("c").message(9, metadata("p", "", 3))))
          .bytes();
  REQUIRE(outline_event(bytes_of(three), event));
  REQUIRE(event.values.size() == 3);
  CHECK(event.values[0].tag == "a");
  CHECK(event.values[1].tag == "b");
  CHECK(event.values[2].tag == "c");
  CHECK(event.values[2].metadata.value().data_class == 3);
  const std::string one = event_of(number("d")).bytes();
  REQUIRE(outline_event(bytes_of(one), event));
  REQUIRE(event.values.size() == 1);
  CHECK(event.values[0].tag == "d");
  CHECK(event.values[0].message.empty());
  CHECK_FALSE(event.values[0].metadata);
  const std::string stop = Message().message(7, Message().varint(1, 2)).bytes();
  REQUIRE(outline_event(bytes_of(stop), event));
  CHECK(event.values.empty());
  CHECK(event.wall_time == 0);
  CHECK(event.step == 0);
  CHECK(event.session == SessionStatus::stop);
  REQUIRE(outline_event(bytes_of(one), event));
  CHECK(event.session == SessionStatus::unspecified);
}

TEST_CASE("metadata in several parts are merged, the last of a field counts") {
  const Message split = number("x")
                            .message(9, metadata("first", "old", 2))
                            .message(9, Message().message(1, Message().text(2, "new")).text(3, "description"));
  const Outlined got(event_of(split));
  REQUIRE(got.status);
  CHECK(got.event.values.at(0).metadata.value().plugin == "first");
  CHECK(text_of(got.event.values.at(0).metadata.value().content) == "new");
  CHECK(got.event.values.at(0).metadata.value().data_class == 2);
  CHECK(got.event.values.at(0).number == 0.75f);
}

TEST_CASE("a message in several parts is put together; another kind replaces it") {
  const Outlined split(event_of(Message().text(1, "x").text(8, "ab").text(8, "").text(8, "cd")));
  REQUIRE(split.status);
  CHECK(text_of(split.event.values.at(0).message) == "abcd");
  CHECK_FALSE(split.event.plain);
  const Outlined replaced(event_of(Message().text(1, "x").text(8, "ab").text(5, "histogram")));
  REQUIRE(replaced.status);
  CHECK(replaced.event.values.at(0).kind == SummaryKind::histogram);
  CHECK(text_of(replaced.event.values.at(0).message) == "histogram");
  CHECK_FALSE(replaced.event.plain);
  const Outlined back(event_of(Message().text(1, "x").text(8, "ab").fixed32(2, 0).text(8, "cd")));
  REQUIRE(back.status);
  CHECK(text_of(back.event.values.at(0).message) == "cd");
  const Outlined other(event_of(number("x")).message(7, Message().varint(1, 1)));
  REQUIRE(other.status);
  CHECK(other.event.kind == EventKind::session_log);
  CHECK(other.event.values.empty());
  CHECK_FALSE(other.event.plain);
}

TEST_CASE("each kind of event") {
  const EventKind kinds[] = {EventKind::file_version, EventKind::graph,       EventKind::summary,
                             EventKind::log_message,  EventKind::session_log, EventKind::run_metadata,
                             EventKind::meta_graph};
  for (std::uint32_t field = 3; field <= 9; ++field) {
    CAPTURE(field);
    const Outlined got(Message().fixed64(1, wall_time_bits).text(field, ""));
    REQUIRE(got.status);
    CHECK(got.event.kind == kinds[field - 3]);
    CHECK(got.event.wall_time == 1700000000.25);
    CHECK(problem_of(Message().varint(field, 1)) == "record's protobuf message: field has the wrong wire type");
  }
  // source_metadata beside file_version, as newer writers have it
  const Outlined version(Message().text(3, "brain.Event:2").text(10, "writer"));
  REQUIRE(version.status);
  CHECK(version.event.kind == EventKind::file_version);
  for (const std::uint64_t status : {0, 1, 2, 3}) {
    const Outlined session(Message().message(7, Message().varint(1, status).text(3, "message")));
    REQUIRE(session.status);
    CHECK(static_cast<std::uint64_t>(session.event.session) == status);
  }
  const Outlined unknown(Message().message(7, Message().varint(1, 9)));
  REQUIRE(unknown.status);
  CHECK(unknown.event.session == SessionStatus::unspecified);
}

TEST_CASE("unknown fields of every wire type are skipped, groups too") {
  const Message unknown =
      Message().varint(50, 1).fixed64(51, 2).text(52, "x").fixed32(53, 3).key(54, 3).varint(1, 1).key(54, 4);
  const std::string_view extra = unknown.bytes();
  const Message plugin = Message().raw(extra).text(1, "p").raw(extra);
  const Message value = Message()
                            .raw(extra)
                            .text(1, "x")
                            .message(9, Message().raw(extra).message(1, plugin).raw(extra))
                            .fixed32(2, three_quarters)
                            .raw(extra);
  const Message summary = Message().raw(extra).message(1, value).raw(extra);
  const Outlined got(Message().raw(extra).varint(2, 7).message(5, summary).raw(extra));
  REQUIRE_MESSAGE(got.status, got.status.problem().text);
  CHECK(got.event.step == 7);
  CHECK(got.event.values.at(0).tag == "x");
  CHECK(got.event.values.at(0).number == 0.75f);
  CHECK(got.event.values.at(0).metadata.value().plugin == "p");
}

TEST_CASE("wrong wire types are damage") {
  const char* const wrong = "record's protobuf message: field has the wrong wire type";
  CHECK(problem_of(Message().varint(1, 1)) == wrong);
  CHECK(problem_of(Message().fixed32(1, 1)) == wrong);
  CHECK(problem_of(Message().fixed64(2, 1)) == wrong);
  CHECK(problem_of(Message().message(5, Message().varint(1, 1))) == wrong);
  CHECK(problem_of(Message().message(7, Message().text(1, "x"))) == wrong);
  for (const std::uint32_t field : {1, 3, 4, 5, 6, 7, 8, 9}) {
    CAPTURE(field);
    CHECK(problem_of(event_of(Message().varint(field, 1))) == wrong);
  }
  CHECK(problem_of(event_of(Message().fixed64(2, 1))) == wrong);
  CHECK(problem_of(event_of(Message().message(9, Message().varint(1, 1)))) == wrong);
  CHECK(problem_of(event_of(Message().message(9, Message().text(4, "x")))) == wrong);
  CHECK(problem_of(event_of(Message().message(9, Message().message(1, Message().varint(1, 1))))) == wrong);
  CHECK(problem_of(event_of(Message().message(9, Message().message(1, Message().varint(2, 1))))) == wrong);
}

TEST_CASE("a tag that is no UTF-8 is damage, as for every reader of proto3") {
  const char* const no_utf8 = "record's protobuf message: tag that is no UTF-8";
  CHECK(problem_of(event_of(number("caf\xe9"))) == no_utf8);
  CHECK(problem_of(event_of(Message().text(7, "\xff").fixed32(2, 0))) == no_utf8);
  const Outlined sound(event_of(number("caf\xc3\xa9/a tag of several words")));
  REQUIRE(sound.status);
  CHECK(sound.event.values.at(0).tag == "caf\xc3\xa9/a tag of several words");
}

TEST_CASE("an event cut short is damage, unless it is cut between fields") {
  // clang-format off
  const std::string payload =
      from_hex("09 00001040fc54d941" "10 ac02"                                    // wall time, step 300: up to 9, 12
               "2a 1d" "0a 1b" "0a 01 78" "15 0000403f"                           // tag "x", 0.75
               "4a 11" "0a 0d" "0a 07 7363616c617273" "12 02 6869" "20 01");      // scalars, "hi", class 1
  // clang-format on
  REQUIRE(payload.size() == 43);
  for (std::size_t size = 0; size <= payload.size(); ++size) {
    CAPTURE(size);
    EventOutline event;
    const Status status = outline_event(bytes_of(std::string_view(payload).substr(0, size)), event);
    CHECK(static_cast<bool>(status) == (size == 0 || size == 9 || size == 12 || size == 43));
    if (!status) {
      CHECK(status.problem().text == "record's protobuf message: cut off, or a part is longer than what holds it");
    }
  }
}

TEST_CASE("absurd lengths are damage") {
  for (const std::uint64_t length :
       {std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 62, UINT64_MAX}) {
    CAPTURE(length);
    CHECK(problem_of(Message().key(5, 2).raw_varint(length)) != "");
    CHECK(problem_of(event_of(Message().key(1, 2).raw_varint(length).raw("x"))) != "");
    CHECK(problem_of(Message().fixed64(1, 0).key(5, 2).raw_varint(length).raw("\x0a\x01x")) != "");
  }
  CHECK(problem_of(Message().raw(std::string(11, '\xff'))) != "");
  // The number ends after the summary that holds it.
  CHECK(problem_of(Message().fixed64(1, 0).raw(from_hex("2a 07 0a 08 0a 01 78 15 0000403f"))) != "");
  CHECK(problem_of(Message().fixed64(1, 0).raw(from_hex("2a 0a 0a 07 0a 01 78 15 0000403f"))) != "");
}
