// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"

#include "cli/escape.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace smd::tool;  // NOLINT: a test of most of the header
using Strings = std::vector<std::string>;

TEST_CASE("UTF-8 is decoded strictly") {
  CHECK(decode_utf8("A").value == U'A');
  CHECK(decode_utf8("\xC3\xA9").value == 0xE9);
  CHECK(decode_utf8("\xE2\x82\xAC").value == 0x20AC);
  CHECK(decode_utf8("\xF0\x9F\x98\x80").value == 0x1F600);
  // A lone continuation, overlong forms of '/' and U+0000, a surrogate, beyond U+10FFFF, cut short, 0xFE.
  for (const char* bad : {"\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xC1\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xE2\x82", "\xF0\x9F\x98", "\xFE", "\xE2\x28\xA1"}) {
    CAPTURE(bad);
    CHECK_FALSE(decode_utf8(bad).valid);
    CHECK(decode_utf8(bad).size == 1);
    CHECK_FALSE(is_utf8(bad));
  }
  for (char32_t point = 1; point < 0x110000; point += 37) {
    if (point < 0xD800 || point > 0xDFFF) {
      std::string text;
      append_utf8(text, point);
      const CodePoint back = decode_utf8(text);
      REQUIRE(back.valid);
      REQUIRE(back.value == point);
      REQUIRE(back.size == text.size());
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
  CHECK(nearest_names("los", names).front() == "loss");
  CHECK(nearest_names("LOSS", names).front() == "loss");
  CHECK(nearest_names("lsos", names).front() == "loss");
  CHECK(nearest_names("conv0/kernal:0", names).front() == "conv0/kernel:0");
  CHECK(nearest_names("kernel", names) == Strings{"conv0/kernel:0", "conv1/kernel:0"});
  CHECK(nearest_names("zzzzzzzz", names).empty());
  CHECK(nearest_names("", names).empty());
  CHECK(nearest_names("x", Strings{}).empty());
  CHECK(did_you_mean(Strings{}).empty());
  CHECK(did_you_mean(Strings{"a"}) == "; did you mean 'a'?");
  CHECK(did_you_mean(Strings{"a", "b", "c"}) == "; did you mean 'a', 'b' or 'c'?");
  CHECK(quoted_list(Strings{"a", "b", "c"}, 2) == "'a', 'b' and 1 more");
}

TEST_CASE("wrapping breaks at spaces only") {
  CHECK(wrapped("one two three", 8, 0) == "one two\nthree\n");
  CHECK(wrapped("one two three", 10, 2) == "  one two\n  three\n");
  CHECK(wrapped("incomprehensibilities x", 5, 0) == "incomprehensibilities\nx\n");
  CHECK(wrapped("a\n\nb", 80, 1) == " a\n\n b\n");
  CHECK(wrapped("", 80, 0).empty());
}

TEST_CASE("escapes of tsv, csv and JSON") {
  const auto with = [](auto append, std::string_view text) {
    std::string out;
    append(out, text);
    return out;
  };
  CHECK(with(append_tsv, "a\tb\nc\rd\\e\"f,g") == "a\\tb\\nc\\rd\\\\e\"f,g");
  // At every place of texts of every length; all other bytes stay what they are.
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    if (std::string_view("\t\n\r\\").find(static_cast<char>(byte)) == std::string_view::npos) {
      all += static_cast<char>(byte);
    }
  }
  CHECK(with(append_tsv, all) == all);
  for (std::size_t size = 1; size < 20; ++size) {
    CHECK(with(append_tsv, all.substr(100, size)) == all.substr(100, size));
    for (std::size_t at = 0; at < size; ++at) {
      const std::string before(at, 'x');
      const std::string after(size - at - 1, 'y');
      CHECK(with(append_tsv, before + '\t' + after) == before + "\\t" + after);
      CHECK(with(append_tsv, before + '\\' + after) == before + "\\\\" + after);
    }
  }
  CHECK(with(append_csv, "plain text") == "plain text");
  CHECK(with(append_csv, "a,b") == "\"a,b\"");
  CHECK(with(append_csv, "say \"x\"\n") == "\"say \"\"x\"\"\n\"");
  CHECK(with(append_csv, "") == "\"\"");
  CHECK(with(append_csv, "=cmd") == "=cmd");
  CHECK(with(append_json, "a\"b\\c\n\t\r\x01/\x7f") == "\"a\\\"b\\\\c\\n\\t\\r\\u0001/\x7f\"");
  CHECK(with(append_json, "caf\xC3\xA9") == "\"caf\xC3\xA9\"");
  // On a terminal: nothing that upsets it; U+E0001 is beyond 16 bits.
  CHECK(with(append_json_shown, "\x1b[1m{\"a\\n\xE2\x80\xAE\x7f\xC2\x85\":\"\xF3\xA0\x80\x81 caf\xC3\xA9\"}\n") ==
        "\x1b[1m{\"a\\n\\u202e\\u007f\\u0085\":\"\\udb40\\udc01 caf\xC3\xA9\"}\n");
  // Each byte that is not UTF-8 becomes one U+FFFD.
  std::string out;
  CHECK_FALSE(append_json(out, "a\xFF\xE2\x82z"));
  CHECK(out == "\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\"");
  out.clear();
  CHECK(append_json(out, "\xE2\x82\xAC"));
}
