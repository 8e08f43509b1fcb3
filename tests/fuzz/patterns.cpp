// SPDX-License-Identifier: Apache-2.0
// A pattern in Python's dialect, a newline, and a text to search. A pattern that compiles must give a result within
// its limits, and the same each time.
#include "text/pattern.hpp"

#include "source.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>

using namespace smd::detail;

SMD_FUZZ_ENTRY(patterns)(const std::uint8_t* data, std::size_t size) {
  smd::fuzz::Source source(data, size);
  const std::string_view text = source.piece("\n");
  Pattern pattern;
  const auto wrong = pattern.compile(text);
  if (wrong) {
    SMD_REQUIRE(!wrong->empty());
    return 0;
  }
  SMD_REQUIRE(pattern.text() == text);
  const Pattern::Answer answer = pattern.search(source.rest());
  if (answer != Pattern::Answer::limit) {
    SMD_REQUIRE(pattern.search(source.rest()) == answer);
  }
  return 0;
}
