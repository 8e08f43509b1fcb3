// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cli/escape.hpp"

#include <string>
#include <string_view>

using namespace smd::tool;  // NOLINT: a test of most of the header

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

using smd::tool::displayable;
using smd::tool::xml;

TEST_CASE("text is never markup") {
  CHECK(xml("</script><img src=x onerror=\"alert('1')\">]]>&amp;") ==
        "&lt;/script&gt;&lt;img src=x onerror=&quot;alert('1')&quot;&gt;]]&gt;&amp;amp;");
}

TEST_CASE("what XML does not take, or misleads, is written out") {
  CHECK(displayable(std::string_view("a\0b\x1b\x7f\n", 6)) == "a\\x00b\\x1b\\x7f\\x0a");
  CHECK(displayable("a\xE2\x80\xAE"
                    "b") == "a\\u{202e}b");
  CHECK(displayable("\xff\xc3") == "\\xff\\xc3");
  CHECK(displayable("\xEF\xBF\xBE|\xEF\xBF\xBF") == "\\u{fffe}|\\u{ffff}");
  CHECK(displayable("\xEF\xBF\xBD") == "\xEF\xBF\xBD");
  CHECK(displayable("gewicht/größe 重み") == "gewicht/größe 重み");
}
