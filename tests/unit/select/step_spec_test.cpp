// SPDX-License-Identifier: Apache-2.0
#include "select/step_spec.hpp"

#include "cli/exit_status.hpp"
#include "cli/mapped.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using smd::tool::InvalidValue;
using smd::tool::StepNeed;
using smd::tool::StepSpec;

namespace {

struct Case {
  const char* spec;
  std::vector<std::int64_t> saved;
  std::vector<std::size_t> indices;
  std::size_t missing;
};

// Made by make_step_spec_cases.py, from Python's range and slices.
struct Written {
  const char* spec;
  const char* saved;
  const char* indices;
  std::size_t missing;
};
constexpr Written written[] = {
#include "step_spec_cases.inc"
};

template <class Number>
std::vector<Number> numbers(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<Number>(words), std::istream_iterator<Number>()};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> result;
    for (const Written& one : written) {
      result.push_back({one.spec, numbers<std::int64_t>(one.saved), numbers<std::size_t>(one.indices), one.missing});
    }
    return result;
  }();
  return all;
}

}  // namespace

TEST_CASE("a SPEC chooses what Python's range and slices do") {
  REQUIRE(cases().size() > 2000);
  for (const Case& one : cases()) {
    CAPTURE(one.spec);
    CAPTURE(one.saved.size());
    const StepSpec spec = StepSpec::parse(one.spec);
    const auto choice = spec.choose(one.saved);
    CHECK(choice.indices == one.indices);
    CHECK(choice.missing.size() == one.missing);
  }
}

TEST_CASE("items separated by commas unite, in ascending order and once") {
  const std::vector<std::int64_t> saved = {0, 5, 10, 15, 20};
  const StepSpec spec = StepSpec::parse("20,0:11,-1,7,10");
  const auto choice = spec.choose(saved);
  CHECK(choice.indices == std::vector<std::size_t>{0, 1, 2, 4});
  REQUIRE(choice.missing.size() == 1);
  CHECK(choice.missing.front()->text == "7");
  CHECK(StepSpec().choose(saved).indices.size() == 5);
}

TEST_CASE("all() is true only where nothing is left out") {
  CHECK(StepSpec().all());
  for (const char* text : {"all", ":", "::", "::1", "3,:"}) {
    CHECK(StepSpec::parse(text).all());
  }
  for (const char* text : {"0:", "::2", "last", ":5", "::-1"}) {
    CHECK_FALSE(StepSpec::parse(text).all());
  }
}

TEST_CASE("what is no SPEC is refused") {
  for (const char* text : {"", ",", "1,", "x", "1x", "1:2:3:4", "1:2:0", "0x10", "1.5", " 1", "+1", "first:", "LAST",
                           "--1", "9223372036854775808", "1:99999999999999999999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)StepSpec::parse(text), InvalidValue);
  }
}

TEST_CASE("a range in which no step can lie is refused, and says so") {
  const auto refusal = [](const char* text) -> std::string {
    try {
      (void)StepSpec::parse(text);
    } catch (const InvalidValue& error) {
      return error.what();
    }
    return {};
  };
  CHECK(refusal("20:0") == "'20:0' is empty: a range ends before its second number; did you mean '0:20'?");
  CHECK(refusal("-1:-3") == "'-1:-3' is empty: a range ends before its second number; did you mean '-3:-1'?");
  CHECK(refusal("5:5") == "'5:5' is empty: a range ends before its second number; did you mean '5'?");
  for (const char* text : {"20:0:2", ":0", "0:20:-1", "5:5:-1", "-3:-1:-1", "-1:-1", "1,20:0"}) {
    CAPTURE(text);
    CHECK(refusal(text).find("is empty") != std::string::npos);
  }
  // With ends of both kinds, and open ones, it depends on what was saved.
  for (const char* text : {"20:-1", "-1:20", "20:0:-1", "-1:-3:-1", ":0:-1", "0:1"}) {
    CAPTURE(text);
    CHECK(refusal(text).empty());
  }
}

TEST_CASE("extreme numbers do not overflow") {
  const std::vector<std::int64_t> saved = {0, 1, INT64_MAX};
  for (const char* text : {"9223372036854775807", "::9223372036854775807", "9223372036854775807:0:-9223372036854775807",
                           "-9223372036854775807:", ":9223372036854775807"}) {
    CAPTURE(text);
    const StepSpec spec = StepSpec::parse(text);
    CHECK(spec.choose(saved).missing.empty());
    CHECK(spec.need().windows.size() <= 1);
  }
  // range(0, open, 2^63 - 1) has the members 0 and 2^63 - 1.
  CHECK(StepSpec::parse("::9223372036854775807").choose(saved).indices == std::vector<std::size_t>{0, 2});
  CHECK(StepSpec::parse("::-1").choose(std::vector<std::int64_t>{INT64_MIN, 0}).indices ==
        std::vector<std::size_t>{0, 1});
  // Further apart than 2^63: -6 counts to before the oldest, so that the range begins there, as a slice does.
  const std::vector<std::int64_t> apart = {-3242475808687559165, 7597132120136377658};
  CHECK(StepSpec::parse("-6:").choose(apart).indices == std::vector<std::size_t>{0, 1});
}

TEST_CASE("open ends of ranges reach steps below 0, upward and downward") {
  const std::vector<std::int64_t> saved = {-4, -2, 0, 2};
  CHECK(StepSpec::parse("0::-2").choose(saved).indices == std::vector<std::size_t>{0, 1, 2});
  CHECK(StepSpec::parse("::-2").choose(saved).indices == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(StepSpec::parse(":2").choose(saved).indices == std::vector<std::size_t>{0, 1, 2});
  CHECK(StepSpec::parse("0:2").choose(saved).indices == std::vector<std::size_t>{2});
  // The members from 0 on are the same whatever lies below.
  CHECK(StepSpec::parse("::2").choose(std::vector<std::int64_t>{-3, -2, -1, 0, 1, 2}).indices ==
        std::vector<std::size_t>{1, 3, 5});
  CHECK(StepSpec::parse("-3:").choose(saved).indices == std::vector<std::size_t>{1, 2, 3});
  CHECK(StepSpec::parse("all").choose(saved).indices == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("what must be read to resolve a SPEC") {
  using Windows = std::vector<std::pair<std::int64_t, std::optional<std::int64_t>>>;
  const auto windows = [](const char* text) {
    const StepNeed need = StepSpec::parse(text).need();
    CHECK(need.kind == StepNeed::Kind::windows);
    return smd::tool::mapped(need.windows, [](const smd::StepRange& range) {
      return std::pair(range.first.value().value, range.end ? std::optional(range.end->value) : std::nullopt);
    });
  };
  CHECK(windows("7") == Windows{{7, 8}});
  CHECK(windows("5000:8000") == Windows{{5000, 8000}});
  CHECK(windows("5000:8000:10") == Windows{{5000, 8000}});
  CHECK(windows("5000:") == Windows{{5000, {}}});
  CHECK(windows(":10") == Windows{{INT64_MIN, 10}});
  CHECK(windows("20:10:-1") == Windows{{11, 21}});  // 20, 19, …, 11
  CHECK(windows("3,9") == Windows{{3, 4}, {9, 10}});

  const auto count = [](const char* text, StepNeed::Kind kind) {
    const StepNeed need = StepSpec::parse(text).need();
    CHECK(need.kind == kind);
    return need.count;
  };
  CHECK(count("last", StepNeed::Kind::newest) == 1);
  CHECK(count("-3:", StepNeed::Kind::newest) == 3);
  CHECK(count("-5:-2", StepNeed::Kind::newest) == 5);
  CHECK(count("-1,-4", StepNeed::Kind::newest) == 4);
  CHECK(count(":-4:-1", StepNeed::Kind::newest) == 4);  // last, …, down to the one after the fourth last
  CHECK(count("first", StepNeed::Kind::oldest) == 1);

  for (const char* text : {"all", ":", "::10", ":-1", "5:-1", "0:10,-1", "first,last", "::-1", "-2::-1"}) {
    CAPTURE(text);
    CHECK(StepSpec::parse(text).need().kind == StepNeed::Kind::everything);
  }
}

TEST_CASE("reading no more than need() says does not change the choice") {
  for (const Case& one : cases()) {
    CAPTURE(one.spec);
    const StepSpec spec = StepSpec::parse(one.spec);
    const StepNeed need = spec.need();
    std::vector<std::int64_t> distinct;
    for (const std::int64_t number : one.saved) {
      if (distinct.empty() || distinct.back() != number) {
        distinct.push_back(number);
      }
    }
    const auto is_read = [&](std::int64_t number) {
      if (need.kind == StepNeed::Kind::everything) {
        return true;
      }
      const auto count = std::min(need.count, distinct.size());
      if (need.kind == StepNeed::Kind::newest) {
        return count > 0 && number >= distinct[distinct.size() - count];
      }
      if (need.kind == StepNeed::Kind::oldest) {
        return count > 0 && number <= distinct[count - 1];
      }
      const smd::GlobalStep step(number);
      for (const smd::StepRange& window : need.windows) {
        if (step >= window.first && (!window.end || step < *window.end)) {
          return true;
        }
      }
      return false;
    };
    std::vector<std::int64_t> read;
    for (const std::int64_t number : one.saved) {
      if (is_read(number)) {
        read.push_back(number);
      }
    }
    std::vector<std::int64_t> chosen;
    for (const std::size_t index : spec.choose(read).indices) {
      chosen.push_back(read[index]);
    }
    std::vector<std::int64_t> expected;
    for (const std::size_t index : one.indices) {
      expected.push_back(one.saved[index]);
    }
    CHECK(chosen == expected);
  }
}
