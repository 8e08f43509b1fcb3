// SPDX-License-Identifier: Apache-2.0
#include "base/pattern.hpp"

#include <smd/limits.hpp>

#include <doctest/doctest.h>

#include <iterator>

namespace smd::detail {
namespace {

/// A pattern, and for each of `case_names` whether Python's `re.search` finds it there.
struct PatternCase {
  const char* pattern;
  const char* found;
};
#include "pattern_cases.inc"

Pattern compiled(std::string_view text) {
  Pattern pattern;
  const auto error = pattern.compile(text);
  REQUIRE_MESSAGE(!error, *error);
  return pattern;
}

}  // namespace

TEST_CASE("patterns are found where Python finds them") {
  for (const PatternCase& one : pattern_cases) {
    Pattern pattern = compiled(one.pattern);
    REQUIRE(std::string_view(one.found).size() == std::size(case_names));
    for (int round = 0; round < 3; ++round) {  // the later ones run machine code
      for (std::size_t i = 0; i < std::size(case_names); ++i) {
        CAPTURE(one.pattern);
        CAPTURE(case_names[i]);
        CHECK((pattern.search(case_names[i]) == Pattern::Answer::yes) == (one.found[i] == '1'));
      }
    }
  }
}

TEST_CASE("a match that takes too long is neither yes nor no") {
  const std::string name = std::string(40, 'a') + "!";
  for (const char* const text : {"(a+)+$", "^(a+)+$", "(a|aa)+$", "(.*)*x(?=y)", "(?:a?){40}a{40}b"}) {
    Pattern pattern = compiled(text);
    CAPTURE(text);
    CHECK(pattern.search(name) != Pattern::Answer::yes);
    for (int i = 0; i < 100; ++i) {
      CHECK(pattern.search("b!") != Pattern::Answer::limit);
    }
    CHECK(pattern.search(name) != Pattern::Answer::yes);  // with machine code too
  }
  Pattern hanging = compiled("(a+)+$");
  CHECK(hanging.search(name) == Pattern::Answer::limit);
  for (int i = 0; i < 100; ++i) {
    CHECK(hanging.search("aaa") == Pattern::Answer::yes);
  }
  CHECK(hanging.search(name) == Pattern::Answer::limit);
}

TEST_CASE("deep recursion ends at a limit") {
  Pattern pattern = compiled("^(?:(a)|b|c)*$");
  const std::string name(limits::name_bytes, 'a');
  for (int i = 0; i < 100; ++i) {
    CHECK(pattern.search(name + "!") != Pattern::Answer::yes);
    CHECK(pattern.search("abc") == Pattern::Answer::yes);
  }
}

TEST_CASE("what does not compile says why and where") {
  for (const char* const text : {"(", "[a", "a**b(", "(?<=a*)b", "(?P<x", "\\", "a{3,2}", "(?P=unknown)", "*a"}) {
    Pattern pattern;
    CAPTURE(text);
    const auto error = pattern.compile(text);
    REQUIRE(error);
    CHECK(error->find(" at byte ") != std::string::npos);
    CHECK(error->find('\n') == std::string::npos);
  }
  Pattern pattern;
  // The place is that in the pattern as it was given: 7 bytes, of which PCRE2 sees 8.
  CHECK(pattern.compile("\\u00e9(").value_or("").ends_with(" at byte 7"));
  CHECK(pattern.compile(std::string(limits::pattern_bytes + 1, 'a')));
  CHECK_FALSE(pattern.compile(std::string(30'000, 'a')));
}

TEST_CASE("a pattern may be compiled anew and moved") {
  Pattern pattern = compiled("^a");
  CHECK(pattern.compile("("));
  REQUIRE_FALSE(pattern.compile("^b"));
  Pattern moved = std::move(pattern);
  CHECK(moved.search("b") == Pattern::Answer::yes);
  CHECK(moved.search("a") == Pattern::Answer::no);
  CHECK(moved.text() == "^b");
}

}  // namespace smd::detail
