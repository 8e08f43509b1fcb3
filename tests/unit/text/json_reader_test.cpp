// SPDX-License-Identifier: Apache-2.0
#include "text/json_reader.hpp"

#include "support/padded.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace smd::test {
namespace {

using HalfPairs = text::JsonReader::HalfPairs;
using text::JsonFault;
using text::JsonNumber;
using text::JsonReader;
using text::JsonValue;

/// Where a text is refused, and why.
std::optional<text::JsonError> refusal(const std::string& text, JsonReader::Options options = {}) {
  const std::string given = padded(text);
  return JsonReader(options).read(given, [](std::string_view, JsonValue&) {});
}

/// Where `{"x": value}` is refused, counted from the value; -1 if it is not.
std::ptrdiff_t refused_at(const std::string& value) {
  const auto error = refusal("{\"x\":" + value + "}");
  return error ? static_cast<std::ptrdiff_t>(error->offset) - 5 : -1;
}

/// The number in `{"x": value}`.
JsonNumber number_of(const std::string& value) {
  const std::string text = padded("{\"x\":" + value + "}");
  JsonNumber number;
  JsonReader reader({.non_finite = true});
  CHECK_FALSE(reader.read(text, [&](std::string_view, JsonValue& one) {
    REQUIRE(one.is_number());
    number = *one.number();
  }));
  return number;
}

/// Writes down a value in a way of its own.
std::string noted(JsonValue& value) {
  std::string notes;
  if (const auto text = value.text()) {
    return "'" + std::string(*text) + "'";
  }
  if (const auto number = value.number()) {
    return number->natural ? std::to_string(*number->natural) : "d" + std::to_string(number->real);
  }
  if (const auto truth = value.boolean()) {
    return *truth ? "true" : "false";
  }
  if (value.is_null()) {
    return "null";
  }
  if (value.items([&](JsonValue& item) { notes += noted(item) + " "; })) {
    return "[ " + notes + "]";
  }
  value.members(
      [&](std::string_view key, JsonValue& member) { notes += std::string(key) + ":" + noted(member) + " "; });
  return "{ " + notes + "}";
}

}  // namespace

TEST_CASE("json reader: values in the order of the text") {
  const std::string text = padded(R"( {"a": [1, "b\"\u00e9\ud83d\ude00", {}, []], "a": {"c": null, "d": [true, false]},
                                     "": 18446744073709551615 , "e\/f" :-1.5} )");
  std::string notes;
  JsonReader reader;
  CHECK_FALSE(reader.read(
      text, [&](std::string_view key, JsonValue& value) { notes += std::string(key) + "=" + noted(value) + " "; }));
  CHECK(notes == "a=[ 1 'b\"é😀' { } [ ] ] a={ c:null d:[ true false ] } =18446744073709551615 e/f=d-1.500000 ");
}

TEST_CASE("json reader: a value is asked for as any type, and says where it is") {
  const std::string text = padded(R"({"a": "x", "b": 2})");
  JsonReader reader;
  std::vector<std::size_t> offsets;
  CHECK_FALSE(reader.read(text, [&](std::string_view, JsonValue& value) {
    offsets.push_back(value.offset());
    const auto nothing = [](auto&&...) {};
    CHECK_FALSE(value.boolean());
    CHECK_FALSE(value.members(nothing));
    CHECK_FALSE(value.items(nothing));
    CHECK(value.text().has_value() != value.number().has_value());
  }));
  CHECK(offsets == std::vector<std::size_t>{6, 16});
}

TEST_CASE("json reader: what nobody reads is checked") {
  for (const char* const value :
       {"{}", "[]", "null", "true", "0", "-0.5e+3", "\"a\\n\\u0041\"", "1e999", "-1e999",
        R"({"a":[1,2,{"b":null}],"c":"d"})", "[[[[]]],{}]", "123456789012345678901234567890"}) {
    CHECK_MESSAGE(refused_at(value) == -1, value);
  }
  CHECK(refused_at("{\"a\" 1}") == 5);
  CHECK(refused_at("{\"a\":\"b\": 1}") == 8);
  CHECK(refused_at("[1,]") == 3);
  CHECK(refused_at("{\"a\":1,}") == 7);
  CHECK(refused_at("[1 2]") == 3);
  CHECK(refused_at("{} {}") == 3);
  for (const char* const beyond : {"[12.e999]", "[-12.e505]", "[.5e999]"}) {
    CHECK_MESSAGE(refused_at(beyond) >= 0, beyond);
  }
  for (const char* const value :
       {"[01]",     "[.5]", "[+1]",      "[NaN]", "\"\\x\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",       "\"a\nb\"",
        "nul",      "tru",  "-",         "1.",    "1e",      "01e999",      "012345678901234567890123", "-Infinity",
        "\"\xff\"", "[1}",  "\"\\u12\"", ":",     "1,,"}) {
    CHECK_MESSAGE(refused_at(value) >= 0, value);
  }
}

TEST_CASE("json reader: what is no object, cut or followed by more") {
  const auto fault = [](const std::string& text) {
    const auto error = refusal(text);
    return error ? std::optional(error->fault) : std::nullopt;
  };
  for (const char* const text : {"[]", "null", "0", "\"x\"", " [1] "}) {
    CHECK_MESSAGE(fault(text) == JsonFault::no_object, text);
  }
  const std::string whole = R"({"a":[{"b":"c"},1]})";
  CHECK_FALSE(fault(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_MESSAGE(fault(whole.substr(0, size)) == JsonFault::cut_off, size);
  }
  CHECK(refusal(whole + " {}")->offset == whole.size() + 1);
  CHECK(refusal(whole + "}")->offset == whole.size());
  CHECK(refusal("x" + whole)->offset == 0);
}

TEST_CASE("json reader: 64 levels, and no deeper") {
  const auto nested = [](std::size_t depth) {
    return "{\"x\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  CHECK_FALSE(refusal(nested(63)));
  REQUIRE(refusal(nested(64)));
  CHECK(refusal(nested(64))->fault == JsonFault::too_deep);
  CHECK(refusal(nested(1'000'000))->fault == JsonFault::too_deep);
  CHECK(refusal("{\"y\":NaN,\"x\":" + nested(100) + "}", {.non_finite = true})->fault == JsonFault::too_deep);
}

TEST_CASE("json reader: numbers") {
  CHECK(number_of("18446744073709551615").natural == UINT64_MAX);
  CHECK_FALSE(number_of("18446744073709551615").integer);
  CHECK(number_of("9223372036854775807").integer == INT64_MAX);
  CHECK(number_of("-9223372036854775808").integer == INT64_MIN);
  CHECK_FALSE(number_of("-9223372036854775808").natural);
  CHECK(number_of("18446744073709551616").real == 18446744073709551616.0);
  for (const char* const no_integer : {"18446744073709551616", "1.0", "1e2", "-9223372036854775809"}) {
    CHECK_FALSE(number_of(no_integer).integer);
    CHECK_FALSE(number_of(no_integer).natural);
  }
  CHECK_FALSE(number_of("-1").natural);
  CHECK(number_of("5e-05").real == 5e-05);
  CHECK(number_of("-2.5").real == -2.5);
  CHECK(std::isnan(number_of("NaN").real));
  CHECK(number_of("-Infinity").real == -HUGE_VAL);
  CHECK(number_of("1e999").real == HUGE_VAL);
  CHECK(number_of("-1e999").real == -HUGE_VAL);
  CHECK(number_of("1e-999").real == 0);
}

TEST_CASE("json reader: numbers of more digits than 64 bits have") {
  CHECK(number_of("0.30000000000000001234567").real == 0.3);
  CHECK(number_of("2.50000000000000000000").real == 2.5);
  CHECK(number_of("-1234567.890123456789012345").real == -1234567.890123456789012345);  // 25 digits
  CHECK(number_of("1.2345678901234567890123e-05").real == 1.2345678901234567890123e-05);
  CHECK(number_of("12345678901234567890123e+10 ").real == 12345678901234567890123e+10);
  CHECK(number_of("0.00000000000000000000000000001").real == 1e-29);
  CHECK(number_of("1234567890123456789").integer == 1234567890123456789);
  CHECK(number_of("9223372036854775808").natural == 9223372036854775808U);
  CHECK(number_of("9223372036854775808").real == 9223372036854775808.0);
  CHECK(number_of("18446744073709551615").real == 18446744073709551615.0);
  CHECK(number_of("-9223372036854775808").real == -9223372036854775808.0);
  for (const char* const wrong : {"0.3000000000000000000001.", "01234567890123456789012", "1e", "1.e5", "-", "1x"}) {
    CHECK_MESSAGE(refused_at(wrong) >= 0, wrong);
  }
}

TEST_CASE("json reader: what only Python writes does not hide where a text goes wrong") {
  const JsonReader::Options python{.non_finite = true};
  CHECK_FALSE(refusal(R"({"a":NaN,"b":[-Infinity,Infinity]})", python));
  CHECK(refusal(R"({"a":NaN,"b":})", python)->offset == 13);
  CHECK(refusal(R"({"a":NaN,"b":[1)", python)->fault == JsonFault::cut_off);
  CHECK(refusal(R"({"a":NaN,"b":"x)", python)->fault == JsonFault::cut_off);
  CHECK(refusal(R"({"a":NaN,"b":{"c":1})", python)->fault == JsonFault::cut_off);
  CHECK(refusal(R"({"a":Nan})", python));
  CHECK(refusal(R"({"a":NaNs})", python));
  CHECK(refusal(R"({"a":Infinity1})", python));
  CHECK(refusal(R"({"a":-NaN})", python));
  CHECK(refusal(R"({"a":1e999,"b":})")->offset == 15);
}

TEST_CASE("json reader: half a surrogate pair costs the text that has it") {
  const std::string text = padded(R"({"a\ud800": 1, "b": "\udc00", "c": ["\\ud800", "\ud83d\ude00"], "d": 1e999})");
  std::string notes;
  JsonReader reader({.half_pairs = HalfPairs::left_out});
  CHECK_FALSE(reader.read(text, [&](std::string_view key, JsonValue& value) {
    notes += std::string(key) + "=" + (key == "b" ? std::string(value.text().value_or("none")) : noted(value)) + " ";
  }));
  CHECK(notes == "=1 b=none c=[ '\\ud800' '😀' ] d=dinf ");
  CHECK(reader.unrepresentable() == 1);
  CHECK(refusal(R"({"a": "\ud800\x"})", {.half_pairs = HalfPairs::left_out}));
  CHECK(refusal(R"({"a": "\ud800"})"));
}

TEST_CASE("json reader: each half of a surrogate pair is replaced, and no whole pair") {
  const auto read = [](const std::string& literal) {
    const std::string text = padded("{" + literal + ": [" + literal + "]}");
    std::string notes;
    JsonReader reader({.half_pairs = HalfPairs::replaced});
    CHECK_FALSE(reader.read(
        text, [&](std::string_view key, JsonValue& value) { notes += std::string(key) + "=" + noted(value); }));
    return notes;
  };
  CHECK(read(R"("cut \ud83d")") == "cut \uFFFD=[ 'cut \uFFFD' ]");
  CHECK(read(R"("\uDC00\uD800\ud83d\ude00z")") == "\uFFFD\uFFFD😀z=[ '\uFFFD\uFFFD😀z' ]");
  CHECK(read(R"("\ud800\u0041\\ud800")") == "\uFFFDA\\ud800=[ '\uFFFDA\\ud800' ]");
  for (const char* const malformed : {R"({"a": "\ud800\x"})", R"({"a": "\ud8zz"})", R"({"a": "\ud800)"}) {
    CHECK_MESSAGE(refusal(malformed, {.half_pairs = HalfPairs::replaced}), malformed);
  }
}

TEST_CASE("json reader: strings of all lengths end where they end") {
  for (std::size_t plain = 0; plain < 70; ++plain) {
    for (const std::string& end : {std::string(), std::string("\\n"), std::string("\xC3\xA9"), std::string("\\\\")}) {
      const std::string text = padded("{\"x\":\"" + std::string(plain, 'a') + end + "\"}");
      JsonReader reader;
      CHECK_FALSE(reader.read(text, [&](std::string_view, JsonValue& value) {
        const auto found = value.text();
        REQUIRE(found);
        CHECK(*found == std::string(plain, 'a') + (end == "\\n" ? "\n" : end == "\\\\" ? "\\" : end));
        CHECK(reader.stands_in_text(*found) == (end.find('\\') == end.npos));
      }));
    }
  }
}

TEST_CASE("json reader: reading ends when it is asked to") {
  std::string items = "1";
  for (int i = 0; i < 200'000; ++i) {
    items += ",1";
  }
  const std::string text = padded("{\"x\":[" + items + "],\"y\":2}");
  std::size_t read = 0;
  const std::function<bool()> stop = [&] { return read > 100'000; };
  JsonReader reader({.stop = &stop});
  CHECK(reader.read(text, [&](std::string_view, JsonValue& value) { value.items([&](JsonValue&) { ++read; }); }));
  CHECK(read > 100'000);
  CHECK(read < 200'000);
  JsonReader first;
  std::size_t keys = 0;
  CHECK(first.read(text, [&](std::string_view, JsonValue&) {
    ++keys;
    JsonReader::leave();
  }));
  CHECK(keys == 1);
}

}  // namespace smd::test
