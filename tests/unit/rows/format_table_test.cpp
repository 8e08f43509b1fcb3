// SPDX-License-Identifier: Apache-2.0
#include "print_rows.hpp"

#include <doctest/doctest.h>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

TEST_CASE("table aligns by display width and escapes") {
  // The first column is 6 wide: `tensor`, `a\x09b`, and a character of width 2 with 4 spaces.
  CHECK(print(options_for("table")) ==
        "tensor  steps      mean  shape   modes\n"
        "a\\x09b     12       0.1  64x3x7  train,eval\n"
        "\xE6\xBC\xA2         NA  0.333333  scalar\n");
}

TEST_CASE("a table longer than what is held back keeps every row") {
  constexpr Column two[] = {{"a", Align::right}, {"b"}};
  std::string expected = "  a  b\n";  // the first 1000 rows hold numbers of up to three digits
  const std::string table = written(options_for("table"), two, false, [&](RowWriter& writer) {
    for (int i = 0; i < 10'000; ++i) {
      writer.row({i, "x"});
      const std::string number = std::to_string(i);
      expected += std::string(number.size() < 3 ? 3 - number.size() : 0, ' ') + number + "  x\n";
    }
  });
  CHECK(table == expected);
}
