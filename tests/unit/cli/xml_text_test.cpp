// SPDX-License-Identifier: Apache-2.0
#include "cli/escape.hpp"

#include <doctest/doctest.h>

#include <string_view>

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
