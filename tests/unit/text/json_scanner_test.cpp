// SPDX-License-Identifier: Apache-2.0
#include "text/json_scanner.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using smd::text::first_bad_utf8;
using smd::text::JsonKind;
using smd::text::JsonNumber;
using smd::text::JsonScanner;

namespace {

/// Where a text is refused; its size if it is JSON.
std::size_t refused_at(std::string_view text) {
  JsonScanner scanner(text);
  const bool right = scanner.skip() && scanner.finish();
  CHECK(right != scanner.failed());
  return right ? text.size() : scanner.offset();
}

JsonNumber number_of(std::string_view text) {
  JsonScanner scanner(text, true);
  JsonNumber number;
  CHECK(scanner.number(number));
  return number;
}

}  // namespace

TEST_CASE("json scanner: every value is passed over") {
  for (const char* const text : {"{}", "[]", " [ ] ", "null", "true", "false", "0", "-0.5e+3", "\"a\\n\\u0041\"",
                                 R"({"a":[1,2,{"b":null}],"c":"d"})", "[[[[]]],{}]"}) {
    CHECK_MESSAGE(refused_at(text) == std::string_view(text).size(), text);
  }
}

TEST_CASE("json scanner: what is no JSON is refused where it goes wrong") {
  CHECK(refused_at("{\"a\" 1}") == 5);
  CHECK(refused_at("[1,]") == 3);
  CHECK(refused_at("{\"a\":1,}") == 7);
  CHECK(refused_at("[1 2]") == 3);
  CHECK(refused_at("{} {}") == 3);
  CHECK(refused_at("[01]") == 2);
  CHECK(refused_at("[.5]") == 1);
  CHECK(refused_at("[+1]") == 1);
  CHECK(refused_at("[NaN]") == 1);
  CHECK(refused_at("\"\\x\"") == 1);
  CHECK(refused_at("\"\\ud800\"") == 7);  // half of a pair
  CHECK(refused_at("\"a\nb\"") == 2);
  CHECK_FALSE(refused_at("nul") == 3);
  for (const char* const cut : {"{", "[", "\"", "{\"a\"", "{\"a\":", "[1", ""}) {
    JsonScanner scanner(cut);
    CHECK_FALSE((scanner.skip() && scanner.finish()));
  }
}

TEST_CASE("json scanner: depth is limited") {
  const std::string most = std::string(64, '[') + std::string(64, ']');
  CHECK(refused_at(most) == most.size());
  CHECK(refused_at(std::string(65, '[') + std::string(65, ']')) == 64);
  CHECK(refused_at(std::string(1'000'000, '[')) == 64);
}

TEST_CASE("json scanner: numbers") {
  CHECK(number_of("18446744073709551615").is_natural);
  CHECK(number_of("18446744073709551615").natural == UINT64_MAX);
  CHECK_FALSE(number_of("18446744073709551616").is_natural);
  CHECK_FALSE(number_of("1.0").is_natural);
  CHECK_FALSE(number_of("1e2").is_natural);
  CHECK_FALSE(number_of("-1").is_natural);
  CHECK(number_of("5e-05").real == 5e-05);
  CHECK(number_of("-2.5").real == -2.5);
  CHECK(std::isnan(number_of("NaN").real));
  CHECK(number_of("-Infinity").real == -HUGE_VAL);
  CHECK(number_of("1e999").real == HUGE_VAL);
  CHECK(number_of("1e-999").real == 0);
}

TEST_CASE("json scanner: whole numbers of all lengths") {
  for (std::uint64_t number = 9, digits = 1; digits <= 19; ++digits, number = number * 10 + 9) {
    const JsonNumber read = number_of(std::to_string(number));
    CHECK(read.is_natural);
    CHECK(read.natural == number);
    CHECK(read.real == std::stod(std::to_string(number)));
  }
  CHECK(refused_at("[0,00]") == 4);
  CHECK(refused_at("[1.]") == 1);
  CHECK(refused_at("[1e]") == 1);
}

TEST_CASE("json scanner: strings of all lengths end where they end") {
  for (std::size_t plain = 0; plain < 40; ++plain) {
    for (const char* const end : {"\"", "\\n\"", "\x1f", "\xC3\xA9\"", ""}) {
      const std::string text = '"' + std::string(plain, 'a') + end;
      JsonScanner scanner(text);
      std::string_view value;
      const bool right = text.size() > 1 && text.back() == '"' && text.size() > plain + 1;
      CHECK(scanner.string(value) == right);
      if (right) {
        const std::string_view rest = end == std::string_view("\"")      ? ""
                                      : end == std::string_view("\\n\"") ? "\n"
                                                                         : "\xC3\xA9";
        CHECK(value == std::string(plain, 'a') + std::string(rest));
        CHECK(scanner.stands_in_text(value) == (rest != "\n"));
      } else {
        CHECK(scanner.offset() == plain + 1);
      }
    }
  }
}

TEST_CASE("json scanner: brackets of both kinds are left in their order") {
  const std::string text = R"({"a":[{"b":[]},[{},[[]]],{"c":{"d":[1,{"e":2}]}}],"f":0} )";
  CHECK(refused_at(text) == text.size());
  CHECK(refused_at(R"({"a":[1}])") == 7);
  CHECK(refused_at(R"([{"a":1]])") == 7);
}

TEST_CASE("json scanner: strings and members") {
  JsonScanner scanner(R"( {"a\/b" : "\ud83d\ude00\t", "plain":[ "x" ,"y"] })");
  REQUIRE(scanner.enter_object());
  std::string_view text;
  REQUIRE(scanner.next_member(text));
  CHECK(text == "a/b");
  CHECK(scanner.peek() == JsonKind::string);
  REQUIRE(scanner.string(text));
  CHECK(text == "\xF0\x9F\x98\x80\t");
  REQUIRE(scanner.next_member(text));
  CHECK(text == "plain");
  REQUIRE(scanner.enter_array());
  std::string all;
  while (scanner.next_item() && scanner.string(text)) {
    all += text;
  }
  CHECK(all == "xy");
  CHECK_FALSE(scanner.next_member(text));
  CHECK(scanner.finish());
}

TEST_CASE("json scanner: the first byte that is not UTF-8") {
  CHECK(first_bad_utf8("plain text of some length") == 25);
  CHECK(first_bad_utf8("caf\xC3\xA9") == 5);
  CHECK(first_bad_utf8("0123456789caf\xE9") == 13);
  CHECK(first_bad_utf8("\xED\xA0\x80") == 0);  // a surrogate
}
