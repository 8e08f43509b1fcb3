// SPDX-License-Identifier: Apache-2.0
#include "draw/xml_text.hpp"

#include "cli/text.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using smd::tool::displayable;
using smd::tool::is_utf8;
using smd::tool::shortened;
using smd::tool::text_lines;
using smd::tool::text_width;
using smd::tool::xml;

TEST_CASE("text is never markup") {
  CHECK(xml("</script><img src=x onerror=\"alert('1')\">]]>&amp;") ==
        "&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;]]&gt;&amp;amp;");
}

TEST_CASE("what XML does not take, or misleads, is written out") {
  CHECK(displayable(std::string_view("a\0b\x1b\x7f\n", 6)) == "a\\x00b\\x1b\\x7f\\x0a");
  CHECK(displayable("a\xE2\x80\xAE"
                    "b") == "a\\u{202e}b");
  CHECK(displayable("\xff\xc3") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(displayable("\xEF\xBF\xBE|\xEF\xBF\xBF") == "\xEF\xBF\xBD|\xEF\xBF\xBD");
  CHECK(displayable("gewicht/größe 重み") == "gewicht/größe 重み");
}

TEST_CASE("long text keeps its ends") {
  CHECK(shortened("loss", 10) == "loss");
  const std::string name = "encoder/" + std::string(10000, 'x') + "/weight:0";
  const std::string shown = shortened(name, 20);
  CHECK(text_width(shown) <= 20);
  CHECK(shown.starts_with("encoder/"));
  CHECK(shown.ends_with("/weight:0"));
  CHECK(shown.find("…") != std::string::npos);
}

TEST_CASE("lines are no wider than asked, whole characters, and hold all of what fits") {
  CHECK(text_lines("one two three", 6, 3) == std::vector<std::string>{"one two", "three"});
  CHECK(text_lines("", 6, 3).empty());
  std::mt19937 random(1);  // NOLINT: the same each time
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (std::size_t i = random() % 120; i > 0; --i) {
      text += std::vector<std::string>{"a", "W", " ", "重", "é", "\xff", "<"}[random() % 7];
    }
    for (const std::string& line : text_lines(text, 8, 4)) {
      CHECK(is_utf8(line));
      CHECK(text_width(line) <= 8);
    }
    CHECK(text_lines(text, 8, 4).size() <= 4);
  }
}
