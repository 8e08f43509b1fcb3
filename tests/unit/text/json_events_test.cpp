// SPDX-License-Identifier: Apache-2.0
#include "text/json_events.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace smd::test {
namespace {

/// Writes down what it receives.
struct Notes {
  std::string text;

  void value(std::nullptr_t) { text += "null "; }
  void value(bool truth) { text += truth ? "true " : "false "; }
  void value(std::int64_t number) { text += "i" + std::to_string(number) + " "; }
  void value(std::uint64_t number) { text += "u" + std::to_string(number) + " "; }
  void value(double number) { text += "d" + std::to_string(number) + " "; }
  void value(std::string&& found) { text += "'" + found + "' "; }
  void key(std::string&& name) { text += name + ": "; }
  void open(text::JsonContainer kind) { text += kind == text::JsonContainer::object ? "{ " : "[ "; }
  void close() { text += "; "; }
};

std::string nested_arrays(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("scan_json passes on the values of a text, in its order") {
  Notes notes;
  REQUIRE(text::scan_json(R"( {"a": [1, "b\"\u00e9\ud83d\ude00", {}, []], "a": {"c": null, "d": [true, false]},
                              "": 18446744073709551615} )",
                          notes));
  CHECK(notes.text == "{ a: [ u1 'b\"é😀' { ; [ ; ; a: { c: null d: [ true false ; ; : u18446744073709551615 ; ");
}

TEST_CASE("scan_json and read_json find the same") {
  for (const std::string& text :
       {std::string("null"), std::string("\"\""), std::string("0"), std::string("[]"), std::string(" { } "),
        std::string("[[], {}, [{\"a\": {\"b\": [0]}}], \"\"]"), std::string("\"\\u0000\\/\\b\\f\\n\\r\\t\\\\\""),
        std::string("{\"a\": 1, \"a\": 2}"), std::string("[\"\x7f\", \"ü\"]"), nested_arrays(limits::json_depth)}) {
    CAPTURE(text);
    Notes scanned;
    Notes read;
    CHECK(text::scan_json(text, scanned));
    CHECK_FALSE(text::read_json(text, read));
    CHECK(scanned.text == read.text);
  }
}

TEST_CASE("scan_json leaves other numbers, damage and deep nesting to read_json") {
  for (const std::string& text : {std::string(),
                                  std::string("-1"),
                                  std::string("[-0]"),
                                  std::string("0.5"),
                                  std::string("[1e3]"),
                                  std::string("[1e999]"),
                                  std::string("18446744073709551616"),
                                  std::string("01"),
                                  std::string("[1,]"),
                                  std::string("{\"a\": 1,}"),
                                  std::string("{\"a\"}"),
                                  std::string("[1 2]"),
                                  std::string("{} {}"),
                                  std::string("[true"),
                                  std::string("tru"),
                                  std::string("NaN"),
                                  std::string("\"\\ud800\""),
                                  std::string("\"\xff\""),
                                  std::string("\"\n\""),
                                  std::string("\xef\xbb\xbf[]"),
                                  std::string("[]\0", 3),
                                  nested_arrays(limits::json_depth + 1)}) {
    CAPTURE(text);
    Notes notes;
    CHECK_FALSE(text::scan_json(text, notes));
  }
}

}  // namespace
}  // namespace smd::test
