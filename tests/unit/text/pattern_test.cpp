// SPDX-License-Identifier: Apache-2.0
#include "text/pattern.hpp"

#include "text/limits.hpp"

#include <smd/error.hpp>

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <utility>

namespace smd::detail {
namespace {

/// A pattern, and for each of `case_names` whether Python's `re.search` matches.
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

TEST_CASE("patterns match where Python's do") {
  for (const PatternCase& one : pattern_cases) {
    Pattern pattern = compiled(one.pattern);
    REQUIRE(std::string_view(one.found).size() == std::size(case_names));
    for (int round = 0; round < 3; ++round) {  // later rounds run machine code
      for (std::size_t i = 0; i < std::size(case_names); ++i) {
        CAPTURE(std::string(one.pattern));
        CAPTURE(std::string(case_names[i]));
        CHECK((pattern.search(case_names[i]) == Pattern::Answer::yes) == (one.found[i] == '1'));
      }
    }
  }
}

TEST_CASE("a match that takes too long is neither a match nor a mismatch") {
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
  CHECK(hanging.found("aaa"));
  CHECK_FALSE(hanging.found("b!"));
  CHECK_THROWS_AS((void)hanging.found(name), MatchLimit);
  CHECK_THROWS_AS((void)hanging.groups(name), MatchLimit);
}

TEST_CASE("a text that is not UTF-8 has one answer, before and after there is machine code") {
  const std::string zero(1, '\0');
  for (const auto& [text, name] : {std::pair(R"(\X(a+)+$)", "aaaaaaaaaaaaaaaa)+\xd9\naaaaaaaaaaaaaa`aaa" + zero),
                                   std::pair("(a+)*$", "aaaaaaaaaaaaaaaa)+aaaaaaa" + zero + "\xd9{11\x81")}) {
    Pattern pattern = compiled(text);
    for (int i = 0; i < 3; ++i) {
      CHECK(pattern.search(name) == Pattern::Answer::no);
    }
  }
}

TEST_CASE("one limit covers all places where a match may start") {
  // In each run of a's, a match from any place takes up to 2^17 steps, fewer than the limit for a name; but there are
  // 3400 runs.
  std::string name;
  for (int run = 0; run < 3400; ++run) {
    name += std::string(17, 'a') + "b";
  }
  Pattern pattern = compiled("(?:a|a)+[^b]Q");
  CHECK(pattern.search(name + "Q") == Pattern::Answer::limit);
  CHECK(pattern.search("aaQQ") == Pattern::Answer::yes);
  // The bytes that a repeated class skips count too: (6 * 10^4)^2 / 2 bytes here, and a step at each place.
  const std::string letters(60'000, 'a');
  CHECK(compiled("a*[bc]").search(letters) == Pattern::Answer::limit);
  CHECK(compiled("(?:[ab]*+c|a)*$").search(letters + "!") == Pattern::Answer::limit);
  CHECK(compiled("(?<=[ab]{9000})c|[ab]{9000}d").search(letters) == Pattern::Answer::limit);
  CHECK(compiled("^(.*)\\1c|b").search(letters) == Pattern::Answer::limit);
}

TEST_CASE("simple patterns match long names within the limits") {
  const std::string name = std::string(60'000, 'a') + "/Loss:0";
  for (const char* const text : {"Loss", "(?i)loss:\\d$", "^a+/", ".*/Loss", "[A-Z]\\w+:0$", "(?:weight|Loss)"}) {
    CAPTURE(text);
    CHECK(compiled(text).search(name) == Pattern::Answer::yes);
    CHECK(compiled(text).search(std::string(60'000, 'b')) == Pattern::Answer::no);
  }
}

TEST_CASE("a query has one budget for all its patterns and names") {
  // Each search takes at least 2^10 steps, and far fewer than the limit for a name.
  const std::string name = std::string(10, 'a') + "!";
  MatchBudget budget(10'000);
  Pattern pattern = compiled("^(?:a|a)+$");
  Pattern other = compiled("^(?:a|a)*$");
  int searches = 0;
  while (pattern.search(name, budget) == Pattern::Answer::no && searches < 100) {
    ++searches;
  }
  CHECK(searches > 0);
  CHECK(searches < 10);
  CHECK(budget.spent());
  CHECK(other.search("b", budget) == Pattern::Answer::spent);
  MatchBudget next;
  CHECK(other.search("b", next) == Pattern::Answer::no);
  CHECK(next.left() < limits::pattern_question_steps);
}

TEST_CASE("patterns that are too large with callouts are matched with limits") {
  std::string names = "^(?:";
  for (int i = 0; i < 2000; ++i) {
    names += "layer" + std::to_string(i) + "|";
  }
  Pattern pattern = compiled(names + "loss)$");
  CHECK(pattern.search("layer1999") == Pattern::Answer::yes);
  CHECK(pattern.search("loss") == Pattern::Answer::yes);
  CHECK(pattern.search("layer2000") == Pattern::Answer::no);
  Pattern anywhere = compiled(names.substr(1) + "loss)\u00e9+$");
  CHECK(anywhere.search("\xc3\xa9/layer7\u00e9\u00e9") == Pattern::Answer::yes);
  CHECK(anywhere.search("\xc3\xa9/layer7\u00e9/") == Pattern::Answer::no);
  Pattern hanging = compiled(names.substr(1) + "(a+)+)$");
  CHECK(hanging.search(std::string(40, 'a') + "!") == Pattern::Answer::limit);
  MatchBudget budget(1);
  CHECK(hanging.search("a", budget) == Pattern::Answer::spent);
}

TEST_CASE("text without special characters is found literally") {
  Pattern pattern = compiled("w:0/\u00e9-#");
  CHECK(pattern.search("conv/w:0/\u00e9-#2") == Pattern::Answer::yes);
  CHECK(pattern.search("conv/W:0/\u00e9-#2") == Pattern::Answer::no);
  CHECK(pattern.search("\xff\xe9w:0/\u00e9-#") == Pattern::Answer::yes);
  MatchBudget none(0);
  CHECK(pattern.search("a", none) == Pattern::Answer::spent);
  CHECK(Pattern().compile("a\xff"));
}

TEST_CASE("deep recursion ends at a limit") {
  Pattern pattern = compiled("^(?:(a)|b|c)*$");
  const std::string name(limits::name_bytes, 'a');
  for (int i = 0; i < 100; ++i) {
    CHECK(pattern.search(name + "!") != Pattern::Answer::yes);
    CHECK(pattern.search("abc") == Pattern::Answer::yes);
  }
}

TEST_CASE("a compile error says why and where") {
  for (const char* const text : {"(", "[a", "a**b(", "(?<=a*)b", "(?P<x", "\\", "a{3,2}", "(?P=unknown)", "*a"}) {
    Pattern pattern;
    CAPTURE(text);
    const auto error = pattern.compile(text);
    REQUIRE(error);
    CHECK(error->find(" at byte ") != std::string::npos);
    CHECK(error->find('\n') == std::string::npos);
  }
  Pattern pattern;
  // The place refers to the given pattern: 7 bytes, of which PCRE2 sees 8.
  CHECK(pattern.compile("\\u00e9(").value_or("").ends_with(" at byte 7"));
  CHECK(pattern.compile(std::string(limits::pattern_bytes + 1, 'a')));
  CHECK_FALSE(pattern.compile(std::string(30'000, 'a')));
}

// What docs/format.md says of patterns that PCRE2 understands otherwise than Python.
TEST_CASE("syntax that PCRE2 does not have is refused, with its place") {
  const auto refusal = [](std::string_view text) { return Pattern().compile(text).value_or(""); };
  CHECK(refusal("(?L)a").find(" at byte ") != std::string::npos);
  CHECK(refusal("(?au)a").find(" at byte ") != std::string::npos);
  CHECK(refusal("ab(?a:c)").ends_with(" at byte 4"));
  CHECK(refusal("\\u00e9(?u)").ends_with(" at byte 8"));
  CHECK(refusal("a\\N{DIGIT ONE}").find(" at byte ") != std::string::npos);
  CHECK(refusal("[\\N{BULLET}]").find(" at byte ") != std::string::npos);
  CHECK(refusal("\\u12").find(" at byte ") != std::string::npos);
  CHECK(refusal("(a)\\2").find(" at byte ") != std::string::npos);
  CHECK_FALSE(refusal("a{99999}").empty());
}

TEST_CASE("where PCRE2 and Python differ, PCRE2's meaning counts") {
  CHECK(compiled("loss(?i)").search("LOSS") == Pattern::Answer::no);
  CHECK(compiled("a(?i)b").search("aB") == Pattern::Answer::yes);
  CHECK(compiled("^[[:alpha:]]+$").search("loss") == Pattern::Answer::yes);
  CHECK(compiled("\\s").search("a\x1f") == Pattern::Answer::no);
  CHECK(compiled("\\s").search("\u180e") == Pattern::Answer::yes);
  CHECK(compiled("(?i)i").search("\u0130") == Pattern::Answer::no);
  CHECK(compiled("(?ai)k").search("\u212a") == Pattern::Answer::yes);
  CHECK(compiled("\\B").search("") == Pattern::Answer::yes);
  CHECK(compiled("(?<=a|bc)d").search("bcd") == Pattern::Answer::yes);
}

TEST_CASE("syntax that only PCRE2 has is unchanged") {
  CHECK(compiled("^\\p{Lu}[\\p{Ll}\\x{e9}]+\\z").search("Net\u00e9") == Pattern::Answer::yes);
  CHECK(compiled("\\Qa[b\\E(?<n>c)\\k{n}").search("a[bcc") == Pattern::Answer::yes);
  CHECK(compiled("^(a(?1)?b)$").search("aabb") == Pattern::Answer::yes);
  CHECK(compiled("(*LIMIT_MATCH=100000000)(a+)+$").search(std::string(40, 'a') + "!") == Pattern::Answer::limit);
  CHECK(Pattern().compile("\\C"));
}

TEST_CASE("a pattern may be compiled again and moved") {
  Pattern pattern = compiled("^a");
  CHECK(pattern.compile("("));
  REQUIRE_FALSE(pattern.compile("^b"));
  Pattern moved = std::move(pattern);
  CHECK(moved.search("b") == Pattern::Answer::yes);
  CHECK(moved.search("a") == Pattern::Answer::no);
  CHECK(moved.text() == "^b");
}

TEST_CASE("every match of a pattern is replaced, with its groups") {
  std::string error;
  Substitution one;
  REQUIRE_FALSE(one.compile("^module\\.(.*)", "net.$1"));
  CHECK(one.apply("module.fc.weight", error) == "net.fc.weight");
  CHECK(one.apply("fc.weight", error) == "fc.weight");
  Substitution all;
  REQUIRE_FALSE(all.compile("a", "bb"));
  CHECK(all.apply(std::string(1000, 'a'), error) == std::string(2000, 'b'));
  CHECK(all.apply("", error)->empty());
}

TEST_CASE("what cannot be compiled or replaced is told") {
  std::string error;
  Substitution one;
  CHECK(one.compile("(", "x") == "missing closing parenthesis at byte 1");
  REQUIRE_FALSE(one.compile("a", "$9"));
  CHECK_FALSE(one.apply("a", error));
  CHECK_FALSE(error.empty());
  Substitution long_search;  // a match of many steps
  REQUIRE_FALSE(long_search.compile("(a+)+$", ""));
  CHECK_FALSE(long_search.apply(std::string(5000, 'a') + "b", error));
}

}  // namespace smd::detail
