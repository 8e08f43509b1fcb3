// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/index_parser.hpp"

#include "base/buffer.hpp"
#include "text/limits.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

namespace layout = smd::detail::layout;
using smd::Mode;
using smd::Problem;
using smd::ProblemKind;

namespace {

struct Parsed {
  smd::detail::Outcome<layout::ParsedIndex> index;
  std::vector<Problem> refused;
};

constexpr const char* expected_path = "events/000000000008/000000000008_worker_0.tfevents";

Parsed parse(layout::IndexParser& parser, const std::string& text) {
  smd::detail::Buffer buffer;
  std::byte* const data = buffer.reserve(text.size() + 1);  // never null, also for an empty text
  std::memcpy(data, text.data(), text.size());
  smd::detail::ProblemList refused(smd::limits::problems_per_file);
  auto index = parser.parse({data, text.size()}, expected_path, refused);
  return {std::move(index), refused.all()};
}

std::string meta(const std::string& step = "8") {
  return R"({"meta": {"mode": "TRAIN", "mode_step": )" + step + R"(, "event_file_name": ")" + expected_path + R"("}, )";
}

std::string payload(const std::string& entries) {
  return R"("tensor_payload": [)" + entries + R"(], "shape_payload": []})";
}

std::string entry(const std::string& name, const std::string& start, const std::string& length) {
  return R"({"tensorname": )" + name + R"(, "start_idx": )" + start + R"(, "length": )" + length + "}";
}

std::vector<std::string> names(layout::IndexParser& parser, const layout::ParsedIndex& index) {
  std::vector<std::string> result;
  if (index.payload != layout::no_id) {
    const layout::Tables& tables = parser.tables();
    for (const std::uint32_t id : tables.name_lists[tables.payloads[index.payload].names]) {
      result.emplace_back(tables.names[id]);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a file as the reference writes it") {
  layout::IndexParser parser;
  const Parsed parsed =
      parse(parser, meta() + payload(entry("\"loss\"", "0", "200") + ", " + entry("\"na\\u00efve\\n\"", "200", "113")));
  REQUIRE(parsed.index);
  CHECK(parsed.refused.empty());
  CHECK(parsed.index->mode == Mode::train);
  CHECK(parsed.index->mode_step == 8);
  CHECK(parsed.index->event_file == layout::no_id);
  CHECK(names(parser, *parsed.index) == std::vector<std::string>{"loss", "na\xC3\xAFve\n"});
  const layout::Payload& columns = parser.tables().payloads[parsed.index->payload];
  REQUIRE(columns.count == 2);
  CHECK(columns.start(1) == 200);
  CHECK(columns.length(1) == 113);
}

TEST_CASE("a payload seen before is shared, and the meta is still its own") {
  layout::IndexParser parser;
  const std::string same = payload(entry("\"loss\"", "0", "200"));
  const Parsed first = parse(parser, meta("8") + same);
  const Parsed second = parse(parser, meta("9") + same);
  const Parsed other = parse(parser, meta("10") + payload(entry("\"loss\"", "0", "201")));
  REQUIRE(first.index);
  REQUIRE(second.index);
  REQUIRE(other.index);
  CHECK(second.index->payload == first.index->payload);
  CHECK(second.index->mode_step == 9);
  CHECK(other.index->payload != first.index->payload);
  CHECK(parser.tables().name_lists.size() == 1);
}

TEST_CASE("a repeated payload is not trusted where the text around it says more") {
  layout::IndexParser parser;
  const std::string good = payload(entry("\"loss\"", "0", "200"));
  REQUIRE(parse(parser, meta() + good).index);
  // The same tail, but the start is not what the quick way takes: the full parser must decide.
  CHECK_FALSE(parse(parser, R"({"meta": {"mode": "TRAIN", "mode_step": 08, "event_file_name": "x"}, )" + good).index);
  CHECK_FALSE(parse(parser, R"({"meta": {"mode": "train", "mode_step": 8, "event_file_name": "x"}, )" + good).index);
  CHECK_FALSE(parse(parser, meta() + good + good).index);
  // A second meta after the payload counts, and is not forgotten the second time.
  const std::string two =
      meta() + R"("tensor_payload": [], "shape_payload": [], "meta": {"mode": "EVAL", "mode_step": 3}})";
  for (int i = 0; i < 2; ++i) {
    const Parsed parsed = parse(parser, two);
    REQUIRE(parsed.index);
    CHECK(parsed.index->mode == Mode::eval);
    CHECK(parsed.index->mode_step == 3);
  }
}

TEST_CASE("an entry that is damaged costs only itself") {
  const std::string good = entry("\"b\"", "113", "112");
  const std::vector<std::string> bad = {
      entry("\"a\"", "-1", "113"),
      entry("\"a\"", "1.0", "113"),
      entry("\"a\"", "\"0\"", "113"),
      entry("\"a\"", "null", "113"),
      entry("\"a\"", "1180591620717411303424", "113"),
      entry("\"a\"", "9223372036854775808", "113"),
      entry("\"a\"", "0", "0"),
      entry("\"a\"", "0", "-5"),
      entry("\"a\"", "0", "1099511627776"),
      entry("\"a\"", "0", "1e400"),
      entry("7", "0", "113"),
      entry("\"\\ud800\"", "0", "113"),
      entry("\"\\udc00x\"", "0", "113"),
      R"({"start_idx": 0, "length": 113})",
      R"({"tensorname": "a", "length": 113})",
      "5",
      "null",
      "[]",
  };
  for (const std::string& text : bad) {
    CAPTURE(text);
    layout::IndexParser parser;
    for (int again = 0; again < 2; ++again) {  // also the second time, when the text has been seen
      const Parsed parsed = parse(parser, meta() + payload(text + ", " + good));
      REQUIRE(parsed.index);
      CHECK(names(parser, *parsed.index) == std::vector<std::string>{"b"});
      REQUIRE(parsed.refused.size() == 1);
      CHECK(parsed.refused[0].kind == ProblemKind::damaged);
      CHECK(parsed.refused[0].text.find("entry 0") != std::string::npos);
    }
  }
}

TEST_CASE("surrogate pairs are characters, and the last of repeated keys counts") {
  layout::IndexParser parser;
  const Parsed parsed = parse(
      parser, meta() + payload(R"({"tensorname": "\ud83d\ude42", "start_idx": 999, "start_idx": 7, "length": 113})"));
  REQUIRE(parsed.index);
  CHECK(names(parser, *parsed.index) == std::vector<std::string>{"\xF0\x9F\x99\x82"});
  CHECK(parser.tables().payloads[parsed.index->payload].start(0) == 7);
}

TEST_CASE("what is not an index file is refused whole, with the place where there is one") {
  const std::string good = meta() + payload(entry("\"a\"", "0", "113"));
  std::string deep = good.substr(0, good.size() - 1) + ", \"x\": ";
  deep += std::string(64, '[') + std::string(64, ']') + "}";
  const std::vector<std::string> bad = {
      "",
      "null",
      "[]",
      "42",
      "not json",
      good.substr(0, good.size() / 2),
      good + good,
      good + "x",
      "{}",
      R"({"meta": {}, "tensor_payload": []})",
      R"({"meta": [], "tensor_payload": []})",
      R"({"tensor_payload": [], "shape_payload": []})",
      meta() + R"("x": 1})",
      meta() + R"("tensor_payload": {}})",
      meta() + R"("tensor_paylobd": [], "shape_payload": [{"tensorname": "a", "shape": [1]}]})",
      meta() + R"("tensor_payload": [], "shape_payload": 3})",
      meta("1000000000000000000000000000000") + payload(""),
      meta("1.5") + payload(""),
      meta("\"x\"") + payload(""),
      R"({"meta": {"mode": "TRAIN", "mode_step": 1}, "tensor_payload": [{"tensorname": "a", "start_idx": 0, "length": 9}]})",
      good.substr(0, good.size() - 1) + ", \"x\": NaN}",
      good.substr(0, good.size() - 1) + ", \"x\": \"\xC3\x28\"}",
      good.substr(0, good.size() - 1) + ",}",
      deep,
  };
  layout::IndexParser parser;
  REQUIRE(parse(parser, good).index);
  for (const std::string& text : bad) {
    CAPTURE(text);
    const Parsed parsed = parse(parser, text);
    REQUIRE_FALSE(parsed.index);
    CHECK(parsed.index.problem().kind == ProblemKind::damaged);
    CHECK_FALSE(parsed.index.problem().text.empty());
  }
  CHECK(parse(parser, good.substr(0, 70)).index.problem().offset == 70);
}

TEST_CASE("a file cut at any byte is damaged, never half read") {
  layout::IndexParser parser;
  const std::string good = meta() + payload(entry("\"a\"", "0", "113") + ", " + entry("\"b\"", "113", "112"));
  REQUIRE(parse(parser, good).index);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(parse(parser, good.substr(0, size)).index);
  }
}

TEST_CASE("harmless oddities are read") {
  layout::IndexParser parser;
  CHECK(parse(parser, "\xEF\xBB\xBF" + meta() + payload("")).index);
  CHECK(parse(parser, meta("\"8\"") + payload("")).index->mode_step == 8);
  CHECK(parse(parser, meta("-1") + payload("")).index->mode_step == -1);
  CHECK(parse(parser,
              R"( {"meta" : {"mode":" EVAL ","mode_step":2,"more":[1,{"x":null}]},"tensor_payload":[],"y":1e400})")
            .index->mode == Mode::eval);
  CHECK(parse(parser, meta() + payload("")).index->payload == layout::no_id);
  const Parsed elsewhere = parse(parser, R"({"meta": {"mode": "TRAIN", "mode_step": 8, "event_file_name": "../x"}, )" +
                                             payload(entry("\"a\"", "0", "113")));
  REQUIRE(elsewhere.index);
  CHECK(parser.tables().paths[elsewhere.index->event_file] == "../x");
}

TEST_CASE("starts beyond four gigabytes keep all their bits") {
  layout::IndexParser parser;
  const Parsed parsed =
      parse(parser, meta() + payload(entry("\"a\"", "0", "113") + ", " + entry("\"b\"", "4294967296", "112") + ", " +
                                     entry("\"c\"", "9223372036854775807", "112")));
  REQUIRE(parsed.index);
  const layout::Payload& columns = parser.tables().payloads[parsed.index->payload];
  CHECK(columns.start(0) == 0);
  CHECK(columns.start(1) == 4294967296);
  CHECK(columns.start(2) == 9223372036854775807);
}

TEST_CASE("shapes: sizes only, at most 64, and the framework's own name") {
  const auto with = [](const std::string& shapes) {
    return meta() + R"("tensor_payload": [], "shape_payload": [)" + shapes + "]}";
  };
  layout::IndexParser parser;
  const Parsed good = parse(
      parser,
      with(R"({"tensorname": "c", "originalname": "dense/c:0", "shape": [4, 2]}, {"tensorname": "d", "shape": []})"));
  REQUIRE(good.index);
  CHECK(parse(parser, R"({"meta": {"mode": "TRAIN", "mode_step": 8}, "shape_payload": []})").index);
  const auto& shapes = parser.tables().shape_lists[parser.tables().payloads[good.index->payload].shapes];
  REQUIRE(shapes.size() == 2);
  CHECK(shapes[0].shape == smd::Shape{4, 2});
  CHECK(parser.tables().names[shapes[0].original] == "dense/c:0");
  CHECK(shapes[1].original == layout::no_id);
  CHECK(shapes[1].shape.empty());

  std::string many = "1";
  for (int i = 0; i < 64; ++i) {
    many += ", 1";
  }
  for (const std::string& shape : {std::string("[-1, 2]"), std::string("[\"2\"]"), std::string("3"),
                                   std::string("[1.5]"), std::string("[4294967296, 4294967296]"), "[" + many + "]"}) {
    CAPTURE(shape);
    const Parsed bad = parse(parser, with(R"({"tensorname": "c", "shape": )" + shape + "}"));
    REQUIRE(bad.index);
    CHECK(bad.index->payload == layout::no_id);
    CHECK(bad.refused.size() == 1);
  }
}

TEST_CASE("equal lists of shapes are kept once, however they alternate") {
  layout::IndexParser parser;
  std::vector<std::uint32_t> kept;
  for (int step = 0; step < 9; ++step) {
    const std::string shape = R"({"tensorname": "c", "shape": [)" + std::to_string(step % 3) + "]}";
    // Steps differ otherwise, so that no text is seen twice.
    const Parsed parsed = parse(parser, meta() + R"("tensor_payload": [)" + entry("\"a\"", std::to_string(step), "20") +
                                            R"(], "shape_payload": [)" + shape + "]}");
    REQUIRE(parsed.index);
    kept.push_back(parser.tables().payloads[parsed.index->payload].shapes);
  }
  CHECK(kept == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2});
  CHECK(parser.tables().shape_lists.size() == 3);
}

TEST_CASE("of a million refused entries a hundred are described, and the rest counted") {
  std::string entries = "0";
  for (int i = 1; i < 1'000'000; ++i) {
    entries += ",0";
  }
  layout::IndexParser parser;
  const Parsed parsed = parse(parser, meta() + payload(entries));
  REQUIRE(parsed.index);
  REQUIRE(parsed.refused.size() == 101);
  CHECK(parsed.refused[99].text.find("entry 99 of 'tensor_payload'") == 0);
  CHECK(parsed.refused[100].kind == ProblemKind::damaged);
  CHECK(parsed.refused[100].text == "999900 more problems of this kind");
}
