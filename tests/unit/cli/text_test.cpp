// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace smd::tool;  // NOLINT: a test of most of the header
using Strings = std::vector<std::string>;

TEST_CASE("UTF-8 is decoded strictly") {
  CHECK(first_character("A").value == U'A');
  CHECK(first_character("\xC3\xA9").value == 0xE9);
  CHECK(first_character("\xE2\x82\xAC").value == 0x20AC);
  CHECK(first_character("\xF0\x9F\x98\x80").value == 0x1F600);
  // A lone continuation, overlong forms of '/' and U+0000, a surrogate, beyond U+10FFFF, cut short, 0xFE.
  for (const char* bad : {"\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xC1\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xE2\x82", "\xF0\x9F\x98", "\xFE", "\xE2\x28\xA1"}) {
    CAPTURE(bad);
    CHECK_FALSE(first_character(bad).valid);
    CHECK(first_character(bad).bytes == 1);
    CHECK_FALSE(valid_utf8(bad));
  }
  for (char32_t point = 1; point < 0x110000; point += 37) {
    if (point < 0xD800 || point > 0xDFFF) {
      std::string text;
      append_utf8(text, point);
      const CodePoint back = first_character(text);
      REQUIRE(back.valid);
      REQUIRE(back.value == point);
      REQUIRE(back.bytes == text.size());
    }
  }
}

TEST_CASE("nothing that could upset a terminal is printable") {
  CHECK(printable("conv0/weight:0") == "conv0/weight:0");
  CHECK(printable("a\x1b[31m\n\t\x7f") == "a\\x1b[31m\\x0a\\x09\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xC2\x85") == "\\u{85}");            // NEL, a C1 control
  CHECK(printable("x\xE2\x80\xAEy") == "x\\u{202e}y");  // right-to-left override
  CHECK(printable("\xE2\x81\xA6\xE2\x80\x8F\xE2\x80\xA8") == "\\u{2066}\\u{200f}\\u{2028}");
  CHECK(printable("\xFF\xC3") == "\\xff\\xc3");
  CHECK(printable("caf\xC3\xA9") == "caf\xC3\xA9");
  CHECK(printable("caf\xC3\xA9", true) == "caf\\u{e9}");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  for (const char byte : printable(all, true)) {
    CHECK(byte >= 0x20);
    CHECK(byte < 0x7F);
  }
}

TEST_CASE("display width") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("caf\xC3\xA9") == 4);
  CHECK(display_width("e\xCC\x81") == 1);                 // e and a combining acute accent
  CHECK(display_width("\xE6\xBC\xA2\xE5\xAD\x97") == 4);  // two Han characters
  CHECK(display_width("\xF0\x9F\x98\x80") == 2);          // an emoji
  CHECK(display_width("\xEF\xBD\x81") == 2);              // fullwidth a
  CHECK(display_width("\xED\x95\x9C") == 2);              // a Hangul syllable
}

TEST_CASE("nearest names, best first, none that is far off") {
  const Strings names = {"accuracy", "loss", "loss_1", "conv0/kernel:0", "conv1/kernel:0", "bias"};
  CHECK(smd::detail::nearest("los", names).front() == "loss");
  CHECK(smd::detail::nearest("LOSS", names).front() == "loss");
  CHECK(smd::detail::nearest("lsos", names).front() == "loss");
  CHECK(smd::detail::nearest("conv0/kernal:0", names).front() == "conv0/kernel:0");
  CHECK(smd::detail::nearest("kernel", names) == Strings{"conv0/kernel:0", "conv1/kernel:0"});
  CHECK(smd::detail::nearest("zzzzzzzz", names).empty());
  CHECK(smd::detail::nearest("", names).empty());
  CHECK(smd::detail::nearest("x", Strings{}).empty());
  CHECK(did_you_mean(Strings{}).empty());
  CHECK(did_you_mean(Strings{"a"}) == "; did you mean 'a'?");
  CHECK(did_you_mean(Strings{"a", "b", "c"}) == "; did you mean 'a', 'b' or 'c'?");
  CHECK(quoted_list(Strings{"a", "b", "c"}, 2) == "'a', 'b' and 1 more");
}

TEST_CASE("names in natural order") {
  const Strings ordered = {"",    "a",  "a.2", "a.010", "a.10",       "a.10b",
                           "a.b", "a2", "a10", "b",     "layers.2.w", "layers.10.w"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      CAPTURE(ordered[i]);
      CAPTURE(ordered[j]);
      CHECK(naturally_before(ordered[i], ordered[j]) == (i < j));
    }
  }
  CHECK(naturally_before("9", "99999999999999999999999999999999"));
  CHECK(naturally_before("z", "\xC3\xA9"));  // beyond ASCII
}

TEST_CASE("wrapping breaks at spaces only") {
  CHECK(wrapped("one two three", 8, 0) == "one two\nthree\n");
  CHECK(wrapped("one two three", 10, 2) == "  one two\n  three\n");
  CHECK(wrapped("incomprehensibilities x", 5, 0) == "incomprehensibilities\nx\n");
  CHECK(wrapped("a\n\nb", 80, 1) == " a\n\n b\n");
  CHECK(wrapped("", 80, 0).empty());
}

TEST_CASE("globs and the patterns that mean the same") {
  CHECK(smd::tool::regex_of_glob("conv*") == "^conv");
  CHECK(smd::tool::regex_of_glob("*relu*") == "relu");
  CHECK(smd::tool::regex_of_glob("layer?/bias") == "^layer./bias$");
  CHECK(smd::tool::regex_of_glob("fc[12].weight") == "^fc[12]\\.weight$");
  CHECK(smd::tool::regex_of_glob("*").value_or("none").empty());
  for (const char* text : {"loss", "conv.*", "a|b", "^fc*", "x+", ""}) {
    CAPTURE(text);
    CHECK_FALSE(smd::tool::regex_of_glob(text).has_value());
  }
}
