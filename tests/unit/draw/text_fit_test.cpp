// SPDX-License-Identifier: Apache-2.0
#include "draw/text_fit.hpp"

#include "cli/text.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using smd::detail::valid_utf8;
using smd::tool::shortened;
using smd::tool::text_lines;
using smd::tool::text_width;

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
      CHECK(valid_utf8(line));
      CHECK(text_width(line) <= 8);
    }
    CHECK(text_lines(text, 8, 4).size() <= 4);
  }
}
