// SPDX-License-Identifier: Apache-2.0
#include "text/escape.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace smd::detail;

namespace {

/// Encodes any number by the rules of RFC 3629.
std::string encode(std::uint32_t c, int bytes) {
  std::string text;
  if (bytes == 1) {
    return {static_cast<char>(c)};
  }
  text += static_cast<char>((0xF00 >> bytes & 0xFF) | (c >> (6 * (bytes - 1))));
  for (int at = bytes - 2; at >= 0; --at) {
    text += static_cast<char>(0x80 | (c >> (6 * at) & 0x3F));
  }
  return text;
}

}  // namespace

TEST_CASE("well-formed UTF-8 is every character except surrogates, in its shortest form") {
  std::size_t wrong = 0;
  for (std::uint32_t c = 0; c < 0x120000; ++c) {
    const int shortest = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    const bool sound = c < 0x110000 && !(c >= 0xD800 && c < 0xE000);
    wrong += valid_utf8(encode(c, shortest)) != sound;
    if (shortest < 4) {
      wrong += valid_utf8(encode(c, shortest + 1));  // too long a form
    }
    if (shortest > 1) {
      wrong += valid_utf8(encode(c, shortest).substr(0, static_cast<std::size_t>(shortest - 1)));  // truncated
    }
  }
  CHECK(wrong == 0);
  CHECK(valid_utf8(""));
  CHECK(valid_utf8("weights/é重みⒶ🙂"));
  CHECK_FALSE(valid_utf8("\x80"));
  CHECK_FALSE(valid_utf8("a\xff"));
  CHECK_FALSE(valid_utf8("\xf8\x88\x80\x80\x80"));
  CHECK_FALSE(valid_utf8("\xc3\x28"));
}

TEST_CASE("characters harmful to a terminal are escaped, all others are unchanged") {
  CHECK(printable("weights/é重み🙂 \\ 'x'") == "weights/é重み🙂 \\ 'x'");
  CHECK(printable(std::string("nul\0inside", 10)) == "nul\\x00inside");
  CHECK(printable("tab\there\nnl\x1b[31m\x7f") == "tab\\x09here\\x0anl\\x1b[31m\\x7f");
  CHECK(printable("\xff\xc3(\xed\xa0\x80") == "\\xff\\xc3(\\xed\\xa0\\x80");
  CHECK(printable("\u0085") == "\\u{85}");
  CHECK(printable("a\u202Eb\u2066c\u200Fd\u061C\uFEFF\u2028") ==
        "a\\u{202e}b\\u{2066}c\\u{200f}d\\u{61c}\\u{feff}\\u{2028}");
  CHECK(printable("") == "");
  CHECK(printable("zero\u200Bwidth\u2060") == "zero\\u{200b}width\\u{2060}");
  std::string out = "x";
  append_printable(out, "caf\u00E9 \U000E0041", true);
  CHECK(out == "xcaf\\u{e9} \\u{e0041}");
}
