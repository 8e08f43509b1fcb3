// SPDX-License-Identifier: Apache-2.0
#include "wire/safetensors.hpp"

#include "support/padded.hpp"

#include <smd/shape.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace smd;
using namespace smd::detail::wire;

namespace {

constexpr std::uint64_t most_bytes = UINT64_MAX / 4;

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& range) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" + range + "]}";
}

/// Parses a header before so many bytes of data.
SafetensorsHeader parse(const std::string& json, std::uint64_t data_bytes) {
  return parse_safetensors(smd::test::padded(json), 8 + json.size() + data_bytes);
}

std::string sound_names(const SafetensorsHeader& header) {
  std::string names;
  for (std::size_t i = 0; i < header.entries.size(); ++i) {
    const FileTensor one = header.entries[i];
    names += one.sound ? one.name : std::string_view();
  }
  return names;
}

/// Offsets of problems within the data.
std::vector<std::int64_t> in_data(const SafetensorsHeader& header, const std::string& json) {
  std::vector<std::int64_t> offsets;
  for (const Problem& problem : header.problems.kept()) {
    offsets.push_back(static_cast<std::int64_t>(*problem.offset) - static_cast<std::int64_t>(8 + json.size()));
  }
  return offsets;
}

}  // namespace

TEST_CASE("safetensors: entries with type, shape and place") {
  const std::string json = "  {\"__metadata__\":{\"format\":\"pt\"}," + entry("b", "BF16", "2,3", "8,20") + "," +
                           entry("a", "I64", "", "0,8") + "," + entry("c", "F4", "3,2", "20,23") + "," +
                           entry("d", "NEW", "7", "23,24") + "}  ";
  const SafetensorsHeader header = parse(json, 24);
  CHECK(header.problems.empty());
  CHECK_FALSE(header.cut);
  REQUIRE(header.entries.size() == 4);
  CHECK(header.entries[0].name == "b");
  CHECK(header.entries[0].dtype == Dtype::bfloat16);
  CHECK(header.entries[0].unread_type.empty());
  CHECK(smd::Shape(header.entries[0].shape.begin(), header.entries[0].shape.end()) == smd::Shape{2, 3});
  CHECK(header.entries[0].offset == 8 + json.size() + 8);
  CHECK(header.entries[0].length == 12);
  CHECK(header.entries[1].shape.empty());
  CHECK(header.entries[2].unread_type == "F4");
  CHECK(header.entries[3].unread_type == "NEW");
  CHECK(sound_names(header) == "bacd");
}

TEST_CASE("safetensors: holes and overlaps") {
  const std::string hole = "{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "4", "6,10") + "}";
  CHECK(sound_names(parse(hole, 10)) == "ab");
  CHECK(in_data(parse(hole, 10), hole) == std::vector<std::int64_t>{4});
  const std::string overlap = "{" + entry("a", "U8", "9", "0,9") + "," + entry("b", "U8", "1", "2,3") + "," +
                              entry("c", "U8", "1", "5,6") + "," + entry("d", "U8", "1", "9,10") + "}";
  CHECK(sound_names(parse(overlap, 10)) == "d");  // b and c do not overlap each other, but a
  CHECK(in_data(parse(overlap, 10), overlap) == std::vector<std::int64_t>{2, 5});
  const std::string empty = "{" + entry("a", "U8", "0", "0,0") + "," + entry("b", "U8", "4", "0,4") + "," +
                            entry("c", "U8", "0,7", "4,4") + "}";
  CHECK(parse(empty, 4).problems.empty());
  CHECK(sound_names(parse(empty, 4)) == "abc");
}

TEST_CASE("safetensors: the file's length") {
  const std::string json = "{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "4", "4,8") + "}";
  CHECK(parse(json, 8).problems.empty());
  CHECK(in_data(parse(json, 9), json) == std::vector<std::int64_t>{8});
  const SafetensorsHeader cut = parse(json, 7);
  REQUIRE(cut.cut);
  CHECK(cut.cut->offset == 8 + json.size() + 7);
  CHECK(cut.problems.empty());
  CHECK(sound_names(cut) == "a");
}

TEST_CASE("safetensors: entries that cannot be right cost themselves alone") {
  for (const std::string& bad : {
           entry("b", "F32", "1,2", "4,8"),                    // 8 bytes, not 4
           entry("b", "U8", "-4", "4,8"),                      // no size
           entry("b", "U8", "4.0", "4,8"),                     // neither
           entry("b", "F32", "4611686018427387904,4", "4,8"),  // 2^62 x 4 elements
           entry("b", "U8", "4", "8,4"),                       // backwards
           entry("b", "U8", "4", "4"),                         // one offset
           entry("b", "U8", "4", "4,8,9"),                     // three
           entry("b", "U8", "4", "4,18446744073709551615"),    // beyond any file
           entry("b", "U8", "4", "-1,3"),
           entry("b", "", "1", "4,8"),
           std::string(R"("b":{"dtype":7,"shape":[4],"data_offsets":[4,8]})"),
           std::string(R"("b":{"dtype":"U8","shape":"4","data_offsets":[4,8]})"),
           std::string(R"("b":{"dtype":"U8","data_offsets":[4,8]})"),
           std::string(R"("b":{"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[4,8]})"),
           std::string(R"("b":[])"),
           std::string(R"("b":null)"),
       }) {
    const std::string json = "{" + entry("a", "U8", "4", "0,4") + "," + bad + "}";
    const SafetensorsHeader header = parse(json, 8);
    CHECK_MESSAGE(sound_names(header) == "a", bad);
    CHECK_MESSAGE(header.problems.kept().size() == 1, bad);
  }
}

TEST_CASE("safetensors: shapes beyond a limit") {
  const auto problem = [](const std::string& shape) {
    const SafetensorsHeader header = parse("{" + entry("a", "F32", shape, "0,0") + "}", 0);
    return header.problems.kept().empty() ? std::string("none") : header.problems.kept().front().text;
  };
  std::string ones = "0";
  for (int i = 1; i < 64; ++i) {
    ones += ",1";
  }
  CHECK(problem(ones) == "none");
  CHECK(problem(ones + ",1") == "tensor 'a': shape has more dimensions than the limit (dimensions) of 64");
  CHECK(problem("0,9223372036854775807") == "none");
  CHECK(problem("0,18446744073709551615") == "tensor 'a': shape has a size above 9223372036854775807");
}

TEST_CASE("safetensors: a name that stands there twice") {
  const std::string json = "{" + entry("a", "U8", "4", "0,4") + "," + entry("b", "U8", "4", "4,8") + "," +
                           entry("a", "U8", "4", "4,8") + "}";
  const SafetensorsHeader header = parse(json, 8);
  CHECK(header.entries.size() == 2);
  CHECK(sound_names(header) == "b");
  CHECK(header.problems.kept().size() == 1);
}

TEST_CASE("safetensors: headers that are none") {
  for (const char* const json : {"", "[]", "{", "{}x", "{\"a\":NaN}", "\xFF", "null"}) {
    const SafetensorsHeader header = parse(json, 0);
    CHECK_MESSAGE(header.problems.kept().size() == 1, json);
    CHECK(header.entries.empty());
  }
  CHECK(parse("{}", 0).problems.empty());
  CHECK(in_data(parse("{}", 3), "{}") == std::vector<std::int64_t>{0});  // bytes of no tensor
  const SafetensorsHeader metadata = parse("{\"__metadata__\":{\"a\":1}," + entry("a", "U8", "1", "0,1") + "}", 1);
  CHECK(metadata.problems.kept().size() == 1);
  CHECK(sound_names(metadata) == "a");
}

TEST_CASE("safetensors: more tensors than the limit") {
  std::string json = "{";
  for (std::size_t i = 0; i <= limits::safetensors_tensors; ++i) {
    json += (i == 0 ? "" : ",") + entry(std::to_string(i), "U8", "0", "0,0");
  }
  const SafetensorsHeader header = parse(json + "}", 0);
  CHECK(header.entries.empty());
  REQUIRE(header.problems.kept().size() == 1);
  CHECK(header.problems.kept().front().text.find("safetensors_tensors") != std::string::npos);
}

TEST_CASE("safetensors: the header's length") {
  const auto check = [](std::uint64_t length, std::uint64_t file) {
    SafetensorsHeader header;
    const bool right = check_safetensors_length(length, file, header);
    CHECK(right == (header.problems.empty() && !header.cut));
    return right ? "right" : header.cut ? "cut" : "damaged";
  };
  CHECK(check(0, 7) == std::string("cut"));
  CHECK(check(0, 8) == std::string("right"));
  CHECK(check(1, 8) == std::string("cut"));
  CHECK(check(100'000'000, 100'000'008) == std::string("right"));
  CHECK(check(100'000'001, most_bytes) == std::string("damaged"));
  CHECK(check(UINT64_MAX, most_bytes) == std::string("damaged"));
}

TEST_CASE("safetensors: entries in another order, with spaces, escapes or more members mean the same") {
  for (const char* const text : {
           R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})",
           R"({"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}})",
           R"({"a": {"dtype":"F32", "shape":[2,3], "data_offsets":[0, 24]}})",
           R"({ "a" : { "dtype" : "F32" , "shape" : [ 2 , 3 ] , "data_offsets" : [ 0 , 24 ] } })",
           R"({"a":{"shape":[2,3],"data_offsets":[0,24],"dtype":"F32"}})",
           R"({"\u0061":{"dty\u0070e":"F3\u0032","shape":[2,3],"data_offsets":[0,24]}})",
           R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24],"more":{"shape":[1]}}})",
       }) {
    const SafetensorsHeader header = parse(text, 24);
    CHECK(header.problems.empty());
    REQUIRE(header.entries.size() == 1);
    const FileTensor one = header.entries[0];
    CHECK(one.name == "a");
    CHECK(one.dtype == Dtype::float32);
    CHECK(Shape(one.shape.begin(), one.shape.end()) == Shape{2, 3});
    CHECK(one.offset == 8 + std::string_view(text).size());
    CHECK(one.length == 24);
    CHECK(one.sound);
  }
  for (const char* const text : {
           R"({"a":{"dtype ":"F32","shape":[2,3],"data_offsets":[0,24]}})",
           R"({"a":{"dtype":"F32","shape":[2,3,],"data_offsets":[0,24]}})",
           R"({"a":{"dtype":"F32","shape":[2,03],"data_offsets":[0,24]}})",
           R"({"a":{"dtype":"F32","shape":[2,3000000000000000000],"data_offsets":[0,24]}})",
           R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24,24]}})",
           R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[24,0]}})",
           R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24],"dtype":"F32"}})",
           R"({"a":{"dtype":"","shape":[2,3],"data_offsets":[0,24]}})",
       }) {
    CHECK_FALSE(parse(text, 24).problems.empty());
    CHECK(sound_names(parse(text, 24)).empty());
  }
}

TEST_CASE("safetensors: entries of the same type share its number") {
  const std::string json = "{" + entry("a", "U8", "2,3", "0,6") + "," + entry("b", "NEW", "2,3", "6,7") + "," +
                           entry("c", "U8", "3,2", "7,13") + "," + entry("d", "U8", "2,3", "13,19") + "," +
                           entry("e", "I8", "2,3", "19,25") + "," + entry("f", "NEW", "2,3", "25,26") + "}";
  const SafetensorsHeader header = parse(json, 26);
  CHECK(header.problems.empty());
  REQUIRE(header.entries.size() == 6);
  const auto type = [&](std::size_t i) { return header.entries[i].type; };
  CHECK(type(0) == type(3));
  CHECK(type(1) == type(5));
  CHECK(std::set{type(0), type(1), type(2), type(4)}.size() == 4);
  for (std::size_t i = 0; i < header.entries.size(); ++i) {
    const FileTensor one = header.entries[i];
    CHECK(one.type < header.entries.types());
    CHECK(one.name == std::string(1, static_cast<char>('a' + i)));
    CHECK(one.unread_type == (i == 1 || i == 5 ? "NEW" : ""));
    CHECK(one.dtype == (i == 4 ? Dtype::int8 : i == 1 || i == 5 ? Dtype::float32 : Dtype::uint8));
    CHECK(Shape(one.shape.begin(), one.shape.end()) == (i == 2 ? Shape{3, 2} : Shape{2, 3}));
    CHECK(one.length == (i == 1 || i == 5 ? 1U : 6U));
  }
}
